import { defineAgent } from '../../define/src/defineAgent.ts'
import type { Model } from '../../../src/protocol/ports/model.ts'

/** An agent whose reply comes piece by piece, as a test says; its next run begins another. */
export function writingAgent(): {
  readonly definition: ReturnType<typeof defineAgent>
  write(text: string): void
  end(): void
} {
  let pieces: (string | undefined)[] = []
  let wake = (): void => {}
  const model: Model = {
    id: 'test:writing',
    async *stream(_request, { signal }) {
      let text = ''
      signal.addEventListener('abort', () => wake())
      for (;;) {
        const came = pieces
        pieces = []
        for (const piece of came) {
          if (piece !== undefined) {
            text += piece
            yield { type: 'text.delta', text: piece }
            continue
          }
          const usage = { input: 9_000, output: 600, cacheRead: 0, cacheWrite: 0 }
          yield { type: 'done', reply: { content: [{ type: 'text', text }], stopReason: 'stop', usage } }
          return
        }
        if (signal.aborted) return
        if (pieces.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
  const put = (piece: string | undefined): void => {
    pieces.push(piece)
    wake()
  }
  return {
    definition: defineAgent({ name: 'writer', model }),
    write: put,
    end: () => put(undefined),
  }
}
