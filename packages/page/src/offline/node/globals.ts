const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder()

/** Maximum length of an argument list that engines take. */
const mostArguments = 0x80_00

const spread = <T>(
  units: ArrayLike<T> & { subarray(from: number, to: number): Iterable<T> },
  text: (part: readonly T[]) => string,
): string => {
  let whole = ''
  for (let from = 0; from < units.length; from += mostArguments)
    whole += text([...units.subarray(from, from + mostArguments)])
  return whole
}

const latin1 = (bytes: Uint8Array): string => spread(bytes, (part) => String.fromCharCode(...part))
const urlSafe = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

function fromBase64(text: string): Uint8Array {
  const plain = text
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replaceAll(/[^A-Za-z0-9+/]/g, '')
  // A single character at the end holds no byte.
  const whole = plain.length % 4 === 1 ? plain.slice(0, -1) : plain
  return Uint8Array.from(atob(whole), (unit) => unit.charCodeAt(0))
}

type Encoding = 'utf8' | 'hex' | 'base64' | 'base64url' | 'utf16le'

/** The parts of Node's `Buffer` that code in a page uses. */
export class Buffer extends Uint8Array {
  static override from(
    given: string | ArrayLike<number> | ArrayBufferLike | Iterable<number>,
    second?: unknown,
    length?: number,
  ): Buffer {
    if (typeof given !== 'string')
      return given instanceof ArrayBuffer
        ? new Buffer(given, second as number | undefined, length)
        : new Buffer(given as ArrayLike<number>)
    return new Buffer(second === 'base64' || second === 'base64url' ? fromBase64(given) : utf8.encode(given))
  }

  static concat(parts: readonly Uint8Array[]): Buffer {
    const whole = new Buffer(parts.reduce((sum, part) => sum + part.length, 0))
    let at = 0
    for (const part of parts) {
      whole.set(part, at)
      at += part.length
    }
    return whole
  }

  static byteLength(text: string): number {
    return utf8.encode(text).length
  }

  override toString(encoding: Encoding = 'utf8'): string {
    switch (encoding) {
      case 'utf8':
        return fromUtf8.decode(this)
      case 'hex':
        return [...this].map((byte) => byte.toString(16).padStart(2, '0')).join('')
      case 'base64':
        return btoa(latin1(this))
      case 'base64url':
        return urlSafe(btoa(latin1(this)))
      case 'utf16le':
        // Not by a decoder: half of a pair stays what it is.
        return spread(new Uint16Array(this.buffer, this.byteOffset, this.length >> 1), (part) =>
          String.fromCharCode(...part),
        )
    }
  }
}

/** The parts of Node's `process` that code in a page uses. Its events never come, and its warnings go to the console. */
export const process = {
  pid: 0,
  on(): void {},
  off(): void {},
  // oxlint-disable-next-line no-console -- Node writes it to standard error.
  emitWarning: (message: string): void => console.warn(message),
}

const waiting: (() => void)[] = []
let port: { postMessage(message: unknown): void } | undefined

function openPort(): NonNullable<typeof port> {
  const { port1, port2 } = new MessageChannel()
  port1.addEventListener('message', () => waiting.shift()?.())
  port1.start()
  return port2
}

/** Calls a function in a later turn of the event loop, without the delay that browsers put before timers. */
export function setImmediate(call: () => void): void {
  waiting.push(call)
  port ??= openPort()
  port.postMessage(null)
}
