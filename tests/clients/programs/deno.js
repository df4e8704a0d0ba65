// Runs the WebGPU program on Deno's own WebGPU.
import { main } from "./webgpu.js";

await main(navigator.gpu, (name, bytes) => Deno.writeFileSync(name, bytes));
