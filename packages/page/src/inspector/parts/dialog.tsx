import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A modal dialog: the browser keeps the focus inside, Escape closes it, and the focus goes back to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  // At once: what is typed next is meant for it.
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    // What one types goes to the first field, not to the button that closes; without a field Enter does nothing for good.
    const places = ['[data-first]', 'input, select, textarea', '.dialog-actions button']
    const first = places.map((place) => dialog.current?.querySelector<HTMLElement>(place)).find(Boolean)
    first?.focus()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return
        event.preventDefault()
        dialog.current?.querySelector('form')?.requestSubmit()
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={titleId} class="grow">
            {title}
          </h2>
          <button type="button" class="button quiet square" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
