import { useMemo } from 'preact/hooks'
import { editOf } from '../../../../../charts/src/text/edits.ts'
import { DiffView } from '../../parts/diffView.tsx'
import { JsonTree } from '../../parts/jsonTree.tsx'

export interface CallInputProps {
  readonly name: string
  readonly input: unknown
}

/** Input of a call: an edit as its difference, anything else as a tree. */
export function CallInput({ name, input }: CallInputProps) {
  const edit = useMemo(() => editOf(name, input), [name, input])
  return edit === undefined ? <JsonTree value={input} depth={2} /> : <DiffView edit={edit} />
}
