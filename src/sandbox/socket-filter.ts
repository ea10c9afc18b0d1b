import { CapstanError } from "../core/errors.ts";

/** By `process.arch`: the kernel's audit name, and the number of the `socket` call. */
const MACHINES: Readonly<Record<string, { readonly audit: number; readonly socket: number }>> = {
  x64: { audit: 0xc000003e, socket: 41 },
  arm64: { audit: 0xc00000b7, socket: 198 },
};
/** The same on every machine. It could create sockets past the filter. */
const IO_URING_SETUP = 425;
/** System calls of the x32 ABI are numbered from here on. */
const X32 = 0x40000000;
const AF_UNIX = 1;
const ALLOW = 0x7fff0000;
/** EPERM. */
const DENY = 0x00050001;
/** Offsets in a filter's input. */
const NUMBER = 0;
const MACHINE = 4;
const FIRST_ARGUMENT = 16;

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const RETURN = 0x06;

/**
 * A seccomp filter for bubblewrap: a program can't create UNIX sockets, so it can't talk to a service of the machine
 * whose socket it sees. A network namespace does not prevent that. Socket pairs still work.
 */
export function socketFilter(arch: string = process.arch): Buffer {
  const machine = MACHINES[arch];
  if (machine === undefined)
    throw new CapstanError("unsupported", `There is no sandbox for ${arch} machines yet. Use the claude engine.`);
  // Jumps count skipped steps: if the condition is true, and if it is false.
  const steps: readonly (readonly [code: number, holds: number, not: number, value: number])[] = [
    [LOAD, 0, 0, MACHINE],
    [IF_EQUAL, 0, 7, machine.audit],
    [LOAD, 0, 0, NUMBER],
    [IF_AT_LEAST, 5, 0, X32],
    [IF_EQUAL, 4, 0, IO_URING_SETUP],
    [IF_EQUAL, 0, 2, machine.socket],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [IF_EQUAL, 1, 0, AF_UNIX],
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, DENY],
  ];
  const bytes = Buffer.alloc(steps.length * 8);
  for (const [index, [code, holds, not, value]] of steps.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(holds, index * 8 + 2);
    bytes.writeUInt8(not, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
