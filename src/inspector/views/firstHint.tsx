import type { Inspector } from '../model/inspector.ts'

export interface FirstHintProps {
  readonly inspector: Inspector
  readonly onMarks: () => void
}

/** Three steps for whoever is here for the first time, until they are put away. */
export function FirstHint({ inspector: { choices }, onMarks }: FirstHintProps) {
  if (!choices.hasHint.value) return null
  return (
    <section class="first-hint" aria-label="First steps">
      <ol>
        <li>
          <strong>Choose an agent</strong> at the left: what it said, what it was sent, and when.
        </li>
        <li>
          <strong>Go back in time</strong> with <kbd>[</kbd> and <kbd>]</kbd>: every moment is kept.
        </li>
        <li>
          <strong>Press</strong> <kbd>?</kbd> for all keys, and for{' '}
          <button type="button" class="link" onClick={onMarks}>
            the meaning of marks
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
