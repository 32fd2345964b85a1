import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Contents by their hash, in one temporary file that has no name and that only this process can read: it is gone with the process, however that ends.
 * Equal contents are kept once. Calls throw the errors of the file system.
 */
export class Contents {
  #file: number | undefined
  #size = 0
  readonly #places = new Map<string, { readonly at: number; readonly size: number }>()

  /** Total number of bytes kept. */
  get size(): number {
    return this.#size
  }

  has(hash: string): boolean {
    return this.#places.has(hash)
  }

  add(hash: string, bytes: Uint8Array): void {
    if (this.#places.has(hash)) return
    this.#file ??= openNameless()
    for (let done = 0; done < bytes.length;)
      done += writeSync(this.#file, bytes, done, bytes.length - done, this.#size + done)
    this.#places.set(hash, { at: this.#size, size: bytes.length })
    this.#size += bytes.length
  }

  /** Returns the content with this hash; `undefined` if it is not kept. */
  get(hash: string): Uint8Array | undefined {
    const place = this.#places.get(hash)
    if (place === undefined) return undefined
    const bytes = Buffer.allocUnsafe(place.size)
    for (let done = 0; done < place.size;) {
      const read = readSync(this.#file!, bytes, done, place.size - done, place.at + done)
      if (read === 0) return undefined
      done += read
    }
    return bytes
  }

  /** Discards all contents. The object can be used again. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
    this.#size = 0
    this.#places.clear()
  }
}

function openNameless(): number {
  const path = join(tmpdir(), `.escapement-${randomUUID()}`)
  const file = openSync(path, 'wx+', 0o600)
  unlinkSync(path)
  return file
}
