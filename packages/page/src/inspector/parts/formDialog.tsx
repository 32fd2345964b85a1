import { Dialog, type DialogProps } from './dialog.tsx'

export interface FormDialogProps extends DialogProps {
  /** Label of the button that submits the form; `kind`: its style. */
  readonly verb: string
  readonly kind?: 'primary' | 'danger'
  /** True if the form cannot be submitted: the button says so, and keeps the focus. */
  readonly isOff?: boolean
  /** Label of the button that leaves the dialog. */
  readonly leave?: string
  readonly onSubmit: () => void
}

/** A dialog with a form, a button that leaves it and one that submits it. */
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
