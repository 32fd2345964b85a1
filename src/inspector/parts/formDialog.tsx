import { Dialog, type DialogProps } from './dialog.tsx'

export interface FormDialogProps extends DialogProps {
  /** Of the button that does it, and how it looks. */
  readonly verb: string
  readonly kind?: 'primary' | 'danger'
  /** Nothing happens while it is set; the button says so, and keeps the focus. */
  readonly isOff?: boolean
  /** Of the button that leaves. */
  readonly leave?: string
  readonly onSubmit: () => void
}

/** A dialog with a form, a button that leaves it and one that does what it is for. */
export const FormDialog = ({ title, onClose, children, verb, isOff = false, ...rest }: FormDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isOff) rest.onSubmit()
      }}
    >
      {children}
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {rest.leave ?? 'Cancel'}
        </button>
        <button type="submit" class={`button ${rest.kind ?? 'primary'}`} aria-disabled={isOff}>
          {verb}
        </button>
      </div>
    </form>
  </Dialog>
)
