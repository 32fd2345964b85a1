import type { ModelPart } from '../../protocol/ports/model.ts'

export interface Source {
  read(parts: AsyncIterable<ModelPart>): AsyncIterator<ModelPart>
}

/**
 * Returns a stream made from the streams of other models. When its reader stops, it stops reading them at once. The
 * generator's own `return()` would wait for a pending read that may never settle.
 */
export function relay(run: (source: Source) => AsyncGenerator<ModelPart, void>): AsyncIterableIterator<ModelPart> {
  let open: AsyncIterator<ModelPart> | undefined
  const parts = run({
    read(stream) {
      open = stream[Symbol.asyncIterator]()
      return open
    },
  })
  return {
    next: () => parts.next(),
    return() {
      void leave(open)
      return parts.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Lets a model clean up, and ignores the outcome. Never rejects. */
export async function leave(parts: AsyncIterator<ModelPart> | undefined): Promise<void> {
  try {
    await parts?.return?.()
  } catch {
    // Nobody reads it any more.
  }
}
