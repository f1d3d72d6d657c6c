// The API. Reads are revalidated by the browser (ETag), writes carry the session's token.

import { dated } from "./asof.js";

/** What the API says when it does not give what was asked for. */
export class Problem extends Error {
  /** @param {number} status @param {string} title @param {string} detail @param {string | null} [now] what is there instead of `was` */
  constructor(status, title, detail, now = null) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.now = now;
  }
}

/** At the time that the page shows. @param {string} path @param {Record<string, string | number | null | undefined>} [query] */
export function address(path, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const asked = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  return dated(`/api/v1/${path}${asked ? `?${asked}` : ""}`);
}

/** One piece of a path. @param {string} name */
export const piece = (name) => encodeURIComponent(name);

/** The text of an answer. @param {string} url @param {RequestInit} [options] */
export async function text(url, options) {
  let response;
  try {
    response = await fetch(url, options);
  } catch {
    throw new Problem(0, "No connection", "The service does not answer.");
  }
  if (response.status === 401) {
    location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
  }
  const body = await response.text();
  if (!response.ok) throw problem(response.status, body);
  return body;
}

/** @param {number} status @param {string} body */
function problem(status, body) {
  try {
    const { title, detail, now } = JSON.parse(body);
    return new Problem(status, String(title ?? ""), String(detail ?? ""), now);
  } catch {
    return new Problem(status, `Error ${status}`, `The service answered with status ${status}.`);
  }
}

/** @param {string} path @param {Record<string, any>} [query] @returns {Promise<any>} */
export async function get(path, query) {
  return JSON.parse(await text(address(path, query)));
}

/** @type {Promise<{name: string, role: string, csrf: string}> | null} */
let asked = null;

/** Who is looking. Asked once, and again where there was no answer. */
export function me() {
  asked ??= get("me").catch((error) => {
    asked = null;
    throw error;
  });
  return asked;
}

/** @param {"POST" | "DELETE"} method @param {string} path @param {any} [body] */
export async function write(method, path, body) {
  const { csrf } = await me();
  const headers = { "X-CSRF-Token": csrf, ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  const answer = await text(address(path), { method, headers, body: body === undefined ? null : JSON.stringify(body) });
  return answer ? JSON.parse(answer) : null;
}
