import type { ComponentChildren } from 'preact'

export interface SquareButtonProps {
  readonly label: string
  /** Tooltip. Default: the label. */
  readonly hint?: string
  /** True for a button without a frame. Default `false`. */
  readonly isQuiet?: boolean
  /** True while the button is on; only for a button that is on or off. */
  readonly isPressed?: boolean
  readonly onClick: () => void
  /** Icon of the button. */
  readonly children: ComponentChildren
}

/** A button with an icon and no text. */
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
