import { useState } from 'preact/hooks'
import { stopping } from './stopping.ts'
import { Icon } from './icon.tsx'

export interface CopyButtonProps {
  /** Returns the text when it is copied. */
  readonly text: () => string
  /** Label that names the text: "Copy the message". */
  readonly label: string
  /** True if the label stands beside the icon. */
  readonly isLabelled?: boolean
}

const words = { ready: 'Copy', copied: 'Copied', failed: 'Copy failed' } as const

/** Copies a text as it was written, where the browser lets pages do so. The outcome is shown until the button is left. */
export function CopyButton({ text, label, isLabelled = false }: CopyButtonProps) {
  const [state, setState] = useState<keyof typeof words>('ready')
  // Only pages of a secure origin have it.
  if ((navigator.clipboard as Clipboard | undefined) === undefined) return null
  const copy = (): void =>
    void navigator.clipboard.writeText(text()).then(
      () => setState('copied'),
      () => setState('failed'),
    )
  const leave = (): void => setState('ready')
  return (
    <button
      type="button"
      class={`copy is-${state}`}
      aria-label={state === 'ready' ? label : words[state]}
      title={label}
      onClick={stopping(copy)}
      onBlur={leave}
      onMouseLeave={leave}
    >
      <Icon name="copy" />
      {state !== 'ready' ? <span>{words[state]}</span> : isLabelled ? <span>{label}</span> : null}
    </button>
  )
}
