import { open, rm } from 'node:fs/promises'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'

/**
 * Writes the file of `--out`, which must not exist. On failure, no file remains. Resolves with the number of pieces.
 *
 * @throws RuntimeError `INVALID_OPTION` if it cannot be written or exists already, and any error of `pieces`.
 */
export async function writeNew(
  file: string,
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): Promise<number> {
  const failed = (thrown: unknown): RuntimeError => {
    const isThere = (thrown as { readonly code?: unknown } | undefined)?.code === 'EEXIST'
    const why = isThere ? 'it is there already, and is not written over' : messageOf(thrown)
    return new RuntimeError('INVALID_OPTION', `--out ${file} cannot be written: ${why}.`, { cause: thrown })
  }
  const handle = await open(file, 'wx').catch((thrown: unknown) => {
    throw failed(thrown)
  })
  let count = 0
  try {
    for await (const piece of pieces) {
      await handle.writeFile(piece).catch((thrown: unknown) => {
        throw failed(thrown)
      })
      count += 1
    }
    await handle.close()
    return count
  } catch (thrown) {
    await handle.close().catch(() => undefined)
    await rm(file, { force: true })
    throw thrown
  }
}
