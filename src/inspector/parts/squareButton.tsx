import type { ComponentChildren } from 'preact'

export interface SquareButtonProps {
  readonly label: string
  /** What is shown when it is pointed at. Default: the label. */
  readonly hint?: string
  /** Without a frame. Default `false`. */
  readonly isQuiet?: boolean
  /** Of one that is on or off. */
  readonly isPressed?: boolean
  readonly onClick: () => void
  /** The sign on it. */
  readonly children: ComponentChildren
}

/** A button that is a sign alone. */
export const SquareButton = ({
  label,
  hint = label,
  isQuiet = false,
  isPressed,
  onClick,
  children,
}: SquareButtonProps) => (
  <button
    type="button"
    class={isQuiet ? 'button quiet square' : 'button square'}
    aria-label={label}
    title={hint}
    aria-pressed={isPressed}
    onClick={onClick}
  >
    {children}
  </button>
)
