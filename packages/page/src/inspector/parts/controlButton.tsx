import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

export interface ControlButtonProps {
  /** Reason why the button cannot be used; `null` if it can. */
  readonly why: string | null
  readonly onUse: () => void
  readonly children: ComponentChildren
  readonly kind?: 'primary' | 'danger' | 'quiet' | ''
  readonly label?: string
  readonly class?: string
  readonly tabIndex?: number
  /** True while the part that the button opens is open; only for a button that opens one. */
  readonly isExpanded?: boolean | undefined
}

/** A button that stays reachable when it cannot be used, and says why. */
export function ControlButton(props: ControlButtonProps) {
  const { why, onUse, children, kind = '', label, class: name = '', tabIndex, isExpanded } = props
  const id = useId()
  return (
    <>
      <button
        type="button"
        class={`button ${kind} ${name}`}
        aria-disabled={why !== null}
        aria-describedby={why === null ? undefined : id}
        aria-label={label}
        aria-expanded={isExpanded}
        tabIndex={tabIndex}
        title={why ?? label}
        onClick={({ detail }) => {
          // The second click of a double click may fall on what took the place of the first one's.
          if (why === null && detail < 2) onUse()
        }}
      >
        {children}
      </button>
      {why === null ? null : (
        <span id={id} class="hidden">
          {why}
        </span>
      )}
    </>
  )
}
