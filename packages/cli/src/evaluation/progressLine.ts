import type { ProgressState } from '../../../evaluation/src/progress.ts'
import { money } from '../../../charts/src/amounts.ts'
import { withoutControls } from '../../../charts/src/plainText.ts'
import { fitted } from '../../../charts/src/textWidth.ts'

interface Output {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Reports the progress of an evaluation: at a terminal in one line that is rewritten, elsewhere in one line per trial. */
export class ProgressLine {
  readonly #output: Output
  #isOpen = false

  constructor(output: Output) {
    this.#output = output
  }

  see(state: ProgressState): void {
    if (this.#output.isTTY === true) {
      const line = progressText(state)
      this.#output.write(`\r\u001B[2K${fitted(line, Math.max(20, (this.#output.columns ?? 80) - 1))}`)
      this.#isOpen = true
    } else if (state.last !== undefined) this.#output.write(`${trialText(state)}\n`)
  }

  /** Removes the line. */
  close(): void {
    if (this.#isOpen) this.#output.write('\r\u001B[2K')
    this.#isOpen = false
  }
}

/** Describes the progress: `12 of 40 · 9 passed · 3 failed · 4 running · $0.21 · 2 min left`. Pure. */
export function progressText(state: ProgressState): string {
  const { done, total, passed, failed, errors, running, spentUsd, leftMs } = state
  return [
    `${done} of ${total}`,
    `${passed} passed`,
    `${failed} failed`,
    ...(errors === 0 ? [] : [`${errors} ${errors === 1 ? 'error' : 'errors'}`]),
    `${running.length} running`,
    ...(spentUsd > 0 ? [money(spentUsd)] : []),
    ...(leftMs === null || done === total ? [] : [`${duration(leftMs)} left`]),
  ].join(' · ')
}

/** Describes a finished trial: `[3 of 40] passed locked-build/off/0, 3.2 s`. Pure. */
export function trialText({ done, total, last }: ProgressState): string {
  const { outcome, key, ms, error, scores } = last!
  const wrong = scores.filter(({ passed, required }) => required && !passed).map(({ name }) => name)
  const why = outcome === 'error' ? `: ${error?.message ?? ''}` : wrong.length === 0 ? '' : `: ${wrong.join(', ')}`
  return withoutControls(`[${done} of ${total}] ${outcome} ${key}, ${(ms / 1000).toFixed(1)} s${why}`)
}

function duration(ms: number): string {
  if (ms < 90_000) return `${Math.ceil(ms / 1000)} s`
  return ms < 5_400_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`
}
