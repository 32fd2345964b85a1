import type { Inspector } from '../../model/shell/inspector.ts'

export interface FirstHintProps {
  readonly inspector: Inspector
  readonly onMarks: () => void
}

/** Three steps for first-time users, until they are dismissed. */
export function FirstHint({ inspector: { choices }, onMarks }: FirstHintProps) {
  if (!choices.hasHint.value) return null
  return (
    <section class="first-hint" aria-label="First steps">
      <ol>
        <li>
          <strong>Select an agent</strong> to see its conversation and requests.
        </li>
        <li>
          <strong>Go back in time</strong> with <kbd>[</kbd> and <kbd>]</kbd>.
        </li>
        <li>
          <kbd>?</kbd> shows all keys and{' '}
          <button type="button" class="link" onClick={onMarks}>
            the legend
          </button>
          .
        </li>
      </ol>
      <button type="button" class="button" onClick={() => choices.closeHint()}>
        Got it
      </button>
    </section>
  )
}
