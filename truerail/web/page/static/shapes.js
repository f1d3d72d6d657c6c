// How cells look. Each state has a colour and a shape of its own, at every size: what is right recedes; a wrong one is
// solid with a cross, a missing one hollow, an unknown one a diamond or a question mark.

/** @typedef {ReturnType<typeof palette>} Palette */

/** So many causes have a colour of their own; later ones share one. */
export const COLOURED = 8;
const LETTER = 11;

/** The colours of the theme in force. @param {Element} node */
export function palette(node) {
  const style = getComputedStyle(node);
  const take = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  return {
    right: take("--cell-right"), dot: take("--cell-dot"), blank: take("--cell-blank"), wrong: take("--cell-wrong"), missing: take("--cell-missing"),
    unknown: take("--cell-unknown"), paper: take("--paper"), ink: take("--ink"), soft: take("--soft"), focus: take("--focus"), missingTint: take("--missing-bg"), unknownTint: take("--unknown-bg"),
    font: take("--mono"), text: take("--sans"), info: take("--link"), wrongTint: take("--wrong-bg"),
    causes: Array.from({ length: COLOURED }, (_, i) => take(`--cause-${i + 1}`)), others: take("--cause-more"),
  };
}

/**
 * By state: none, right, wrong, missing, unknown.
 * @type {Array<(ctx: CanvasRenderingContext2D, x: number, y: number, size: number, colours: Palette) => void>}
 */
export const SHAPES = [
  (ctx, x, y, size, colours) => {
    ctx.fillStyle = colours.blank;
    ctx.fillRect(x, y, size, size);
  },
  () => {},
  (ctx, x, y, size, colours) => {
    ctx.fillStyle = colours.wrong;
    ctx.fillRect(x, y, size, size);
    if (size < 6) return;
    const inset = size * 0.3;
    ctx.strokeStyle = colours.paper;
    ctx.lineWidth = Math.max(1.2, size / 9);
    ctx.beginPath();
    ctx.moveTo(x + inset, y + inset);
    ctx.lineTo(x + size - inset, y + size - inset);
    ctx.moveTo(x + size - inset, y + inset);
    ctx.lineTo(x + inset, y + size - inset);
    ctx.stroke();
  },
  (ctx, x, y, size, colours) => {
    const line = size < 6 ? 1 : Math.max(1.5, size / 9);
    ctx.fillStyle = size < 6 ? colours.paper : colours.missingTint;
    ctx.fillRect(x, y, size, size);
    ctx.strokeStyle = colours.missing;
    ctx.lineWidth = line;
    ctx.strokeRect(x + line / 2, y + line / 2, size - line, size - line);
    if (size < 10) return;
    ctx.beginPath();
    ctx.arc(x + size / 2, y + size / 2, size * 0.2, 0, 2 * Math.PI);
    ctx.stroke();
  },
  (ctx, x, y, size, colours) => {
    if (size >= 12) {
      ctx.fillStyle = colours.unknownTint;
      ctx.fillRect(x, y, size, size);
      ctx.fillStyle = colours.unknown;
      ctx.font = `700 ${Math.round(size * 0.72)}px ${colours.text}`;
      ctx.textAlign = "center";
      ctx.textBaseline = "middle";
      ctx.fillText("?", x + size / 2, y + size / 2 + 0.5);
      return;
    }
    ctx.fillStyle = colours.unknownTint;
    ctx.fillRect(x, y, size, size);
    ctx.fillStyle = colours.unknown;
    const half = size / 2;
    ctx.beginPath();
    ctx.moveTo(x + half, y);
    ctx.lineTo(x + size, y + half);
    ctx.lineTo(x + half, y + size);
    ctx.lineTo(x, y + half);
    ctx.fill();
  },
];

/**
 * A finding on a cable that is in the right place.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {number} severity
 * @param {Palette} colours
 */
export function notch(ctx, x, y, size, severity, colours) {
  const side = Math.max(2, size * 0.5);
  ctx.fillStyle = severity === 3 ? colours.wrong : severity === 2 ? colours.missing : colours.info;
  ctx.beginPath();
  ctx.moveTo(x + size - side, y);
  ctx.lineTo(x + size, y);
  ctx.lineTo(x + size, y + side);
  ctx.fill();
}

/**
 * One of many cells that a single cause explains: light, so that the others stand out.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {number} state
 * @param {Palette} colours
 */
export function light(ctx, x, y, size, state, colours) {
  const [tint, line] = [
    [colours.right, colours.dot],
    [colours.right, colours.dot],
    [colours.wrongTint, colours.wrong],
    [colours.missingTint, colours.missing],
    [colours.unknownTint, colours.unknown],
  ][state];
  ctx.fillStyle = tint;
  ctx.fillRect(x, y, size, size);
  if (size < 6 || state < 2) return;
  ctx.globalAlpha *= 0.6;
  ctx.strokeStyle = line;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(x + size * 0.25, y + size * 0.75);
  ctx.lineTo(x + size * 0.75, y + size * 0.25);
  ctx.stroke();
  ctx.globalAlpha /= 0.6;
}

/**
 * A cell in the colour of its cause, with the cause's number where there is room. What is missing is hollow, what is
 * unknown a diamond, what is right a smaller square.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {{cause: number, state: number}} cell
 * @param {Palette} colours
 */
export function byCause(ctx, x, y, size, { cause, state }, colours) {
  const colour = colours.causes[cause - 1] ?? colours.others;
  const inset = state === 1 ? size * 0.2 : 0;
  ctx.fillStyle = state === 3 ? colours.paper : colour;
  ctx.strokeStyle = colour;
  ctx.lineWidth = Math.max(1, size / 7);
  ctx.beginPath();
  if (state === 4) {
    ctx.moveTo(x + size / 2, y);
    for (const [across, down] of [[1, 0.5], [0.5, 1], [0, 0.5]]) ctx.lineTo(x + across * size, y + down * size);
  } else ctx.rect(x + inset, y + inset, size - 2 * inset, size - 2 * inset);
  ctx.fill();
  if (state === 3) ctx.strokeRect(x + ctx.lineWidth / 2, y + ctx.lineWidth / 2, size - ctx.lineWidth, size - ctx.lineWidth);
  if (size < LETTER || cause > COLOURED) return;
  ctx.fillStyle = state === 3 ? colours.ink : colours.paper;
  ctx.font = `700 ${Math.round(size * 0.62)}px ${colours.text}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(String(cause), x + size / 2, y + size / 2 + 0.5);
}
