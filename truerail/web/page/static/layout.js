// Where each cell stands. Hosts run down in columns, rails across; pods are blocks on shelves. Everything reflows to
// the width, so that larger cells only ever scroll down.

/**
 * @typedef {object} Column
 * @property {number} x left edge of its cells
 * @property {number} y top of its cells
 * @property {number} first host
 * @property {number} rows
 */
/** @typedef {{x: number, y: number, width: number, name: string}} Title */
/**
 * @typedef {object} Layout
 * @property {number} size of a cell with its gap
 * @property {number} label width of the names on the left of each column; 0 without names
 * @property {number} head height of the rail numbers above each column; 0 without
 * @property {number} across width of a column's cells
 * @property {number} height of everything
 * @property {number} planes
 * @property {number} between gap between rails with several planes
 * @property {Column[]} columns
 * @property {Title[]} titles
 */

export const NAMED = 13;
const SIZES = [24, 22, 20, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5.5, 5, 4.5, 4, 3.5, 3, 2.5, 2, 1.5, 1];
export const STEPS = [2, 3, 4, 6, 8, 11, 14, 18, 24];
const SHELVES = 16;
const TITLE = 18;

/**
 * @param {import("./cells.js").Cells} cells
 * @param {number} size
 * @param {number} name width of the longest name
 */
function measures(cells, size, name) {
  const between = cells.planes > 1 ? Math.max(1, Math.round(size / 5)) : 0;
  return {
    size,
    between,
    planes: cells.planes,
    label: size >= NAMED ? name : 0,
    head: size >= 11 ? 16 : 0,
    across: cells.perHost * size + (cells.rails.length - 1) * between,
    gap: size < 3 ? 3 : size < 6 ? 5 : Math.max(7, Math.round(size * 0.8)),
    title: cells.pods.length > 1 || cells.pods[0]?.name ? TITLE : 0,
  };
}

/**
 * The layout with cells of one size.
 * @param {import("./cells.js").Cells} cells @param {number} width @param {number} size @param {number} name @param {number} most rows in a column
 * @returns {Layout}
 */
export function arrange(cells, width, size, name, most) {
  const m = measures(cells, size, name);
  const step = m.label + m.across + m.gap;
  const fitting = Math.max(1, Math.floor((width + m.gap) / step));
  /** @type {Column[]} */ const columns = [];
  /** @type {Title[]} */ const titles = [];
  let x = 0, y = 0, shelf = 0;
  for (const pod of cells.pods) {
    const many = Math.min(fitting, Math.max(1, Math.ceil(pod.hosts / most)));
    const rows = Math.ceil(pod.hosts / many);
    const wide = Math.ceil(pod.hosts / rows) * step - m.gap;
    if (x > 0 && x + wide > width) {
      [x, y, shelf] = [0, y + shelf + m.gap, 0];
    }
    if (m.title) titles.push({ x, y, width: wide, name: pod.name || "no pod" });
    for (let first = 0, at = x; first < pod.hosts; first += rows, at += step) {
      columns.push(
        { x: at + m.label, y: y + m.title + m.head, first: pod.first + first, rows: Math.min(rows, pod.hosts - first) }
      );
    }
    shelf = Math.max(shelf, m.title + m.head + rows * size);
    x += wide + Math.round(m.gap * 1.7);
  }
  return { ...m, height: Math.ceil(y + shelf), columns, titles };
}

/**
 * The largest cells with which everything is in sight.
 * @param {import("./cells.js").Cells} cells @param {number} width @param {number} height @param {number} name
 * @returns {Layout}
 */
export function fit(cells, width, height, name) {
  for (const size of SIZES) {
    const { title, head, gap } = measures(cells, size, name);
    for (let shelves = 1; shelves <= Math.min(SHELVES, cells.pods.length); shelves++) {
      const rows = Math.floor(((height + gap) / shelves - gap - title - head) / size);
      if (rows < 1) break;
      const made = arrange(cells, width, size, name, rows);
      if (made.height <= height) return made;
    }
  }
  return arrange(cells, width, 2, name, Math.max(1, Math.floor(height / 2)));
}

/**
 * The layout with larger cells than fit: as wide as there is room, scrolled.
 * @param {import("./cells.js").Cells} cells
 * @param {number} width
 * @param {number} size
 * @param {number} name
 */
export function roomy(cells, width, size, name) {
  return arrange(cells, width, size, name, 8);
}

/** The column of a host, by halving. @param {Layout} layout @param {number} host */
export function columnOf(layout, host) {
  let low = 0, high = layout.columns.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (layout.columns[middle].first <= host) low = middle;
    else high = middle - 1;
  }
  return layout.columns[low];
}

/**
 * How far right of its column's edge a cell of a host begins.
 * @param {Layout} layout
 * @param {number} at its number within the host
 */
export function offset(layout, at) {
  return at * layout.size + Math.floor(at / layout.planes) * layout.between;
}

/** Where a cell is drawn. @param {Layout} layout @param {number} cell @param {number} perHost */
export function placeOf(layout, cell, perHost) {
  const host = Math.floor(cell / perHost);
  const column = columnOf(layout, host);
  return { x: column.x + offset(layout, cell % perHost), y: column.y + (host - column.first) * layout.size };
}

/**
 * The cell at a point, or its host's first where the point is on the name; -1 beside everything.
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 * @param {number} perHost
 */
export function cellAt(layout, x, y, perHost) {
  for (const column of layout.columns) {
    const row = Math.floor((y - column.y) / layout.size);
    const along = x - column.x;
    if (row < 0 || row >= column.rows || along < -layout.label || along >= layout.across) continue;
    const pitch = layout.planes * layout.size + layout.between;
    const rail = Math.floor(Math.max(0, along) / pitch);
    const plane = Math.min(layout.planes - 1, Math.floor((Math.max(0, along) - rail * pitch) / layout.size));
    return (column.first + row) * perHost + rail * layout.planes + plane;
  }
  return -1;
}
