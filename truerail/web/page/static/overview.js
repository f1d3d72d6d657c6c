// The overview. The picture comes first; what stands around it is loaded when it is drawn.

import { address, text } from "./api.js";
import { Picture } from "./picture.js";

const picture = new Picture();
/** @type {any} */
let failure = null;
try {
  picture.whole(JSON.parse(await text(address("map"))));
} catch (error) {
  failure = error;
  picture.failed(error);
}
const { around } = await import("./around.js");
around(picture, failure);
