import type { Clock } from '../../../protocol/clock.ts'

const everyMs = 250
const maxChars = 4000

/** Reports output as it arrives, at most four times a second. */
export interface OutputProgress {
  add(text: string): void
  /** Reports what is left and stops the timer. Idempotent. */
  end(): void
}

/** Reports `{ output }`: the text since the last report, or its end if it is long. The first piece is reported at once. */
export function outputProgress(report: (progress: { readonly output: string }) => void, clock: Clock): OutputProgress {
  let waiting = ''
  let cancel: (() => void) | undefined
  const flush = (): void => {
    if (waiting === '') return
    const output = waiting.length > maxChars ? `…${waiting.slice(-maxChars)}` : waiting
    waiting = ''
    report({ output: output.toWellFormed() })
  }
  const tick = (): void => {
    cancel = undefined
    if (waiting === '') return
    flush()
    cancel = clock.after(everyMs, tick)
  }
  return {
    add: (text) => {
      waiting = (waiting + text).slice(-maxChars - 1)
      if (cancel !== undefined) return
      flush()
      cancel = clock.after(everyMs, tick)
    },
    end: () => {
      cancel?.()
      cancel = undefined
      flush()
    },
  }
}
