import { useEffect, useMemo, useState } from 'preact/hooks'
import { cutEnd } from '../../../../../../src/protocol/text/cutMiddle.ts'
import { counted } from '../../../../../charts/src/amounts.ts'
import type { AgentViewState } from '../../model/agent/agentView.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { forDisplay } from '../../model/words/shortText.ts'
import { suiteSource } from '../../../../../sessions/src/savedTask.ts'
import { logLines, markdownOf, taskOf, testOf } from '../../model/shell/takeOut.ts'
import { CopyButton } from '../../parts/copyButton.tsx'
import { FormDialog } from '../../parts/formDialog.tsx'

type Form = 'test' | 'task' | 'markdown' | 'log'

const forms: readonly {
  readonly name: Form
  readonly label: string
  readonly about: string
  /** Returns the name of the file for an agent. */
  file(agentId: string): string
}[] = [
  {
    name: 'test',
    label: 'A failing test',
    about: 'Replays the recorded replies and results, and asserts the expected outcome.',
    file: (agentId) => `${agentId}.test.ts`,
  },
  {
    name: 'task',
    label: 'A task',
    about: 'For “escapement eval”. Save suite.mjs in a folder of its own.',
    file: () => 'suite.mjs',
  },
  {
    name: 'markdown',
    label: 'The conversation',
    about: 'Markdown, to read and to paste.',
    file: (agentId) => `${agentId}.md`,
  },
  {
    name: 'log',
    label: 'The log',
    about: 'Every record as JSON Lines, for “escapement import”.',
    file: (agentId) => `${agentId}.jsonl`,
  },
]

/** Characters of a file that are shown before it is saved, in UTF-16 units. */
const mostShown = 6_000

/** Returns true for a form that takes an expectation of the answer. */
const asksFor = (form: Form): boolean => form === 'test' || form === 'task'

const copyWords: Readonly<Record<Exclude<Form, 'log'>, string>> = {
  test: 'Copy as a failing test',
  task: 'Copy as a task',
  markdown: 'Copy as Markdown',
}

interface Made {
  readonly pieces: readonly string[]
  /** Reason why there is no file, or a remark about it. */
  readonly note?: string
}

function madeOf(form: Form, state: AgentViewState, expect: string): Made {
  if (form === 'log') return { pieces: logLines(state), note: 'What results keep beside the log is not in it.' }
  if (form === 'markdown') return { pieces: [markdownOf(state)] }
  const made = form === 'test' ? testOf(state, expect) : taskOf(state, expect)
  if (!made.ok) return { pieces: [], note: made.why }
  const notes = [
    ...(form === 'test' ? [] : ['Files are not included: use “escapement export --task” to include them.']),
    ...(made.passes === undefined ? [] : [`The recorded session already passes: ${made.passes}.`]),
  ]
  const source = 'source' in made ? made.source : suiteSource(made)
  return { pieces: [source], ...(notes.length === 0 ? {} : { note: notes.join(' ') }) }
}

export interface ExportDialogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onClose: () => void
}

/** Exports an agent from the page, to be copied or saved: as a test that fails, as a task, as Markdown or as its log. */
export function ExportDialog({ inspector, view, onClose }: ExportDialogProps) {
  const [form, setForm] = useState<Form>('test')
  const [expect, setExpect] = useState('')
  // As it was when the dialog was opened: an agent at work would change it under the pointer.
  const [state] = useState(() => view.state.value)
  // They are read into the records that it has.
  const isWhole = view.state.value.areRequestsRead
  useEffect(() => view.readRequests(), [view])
  const { pieces, note } = useMemo(
    () => (isWhole ? madeOf(form, state, expect) : { pieces: [], note: 'Reading the requests …' }),
    [form, state, expect, isWhole],
  )
  const isEmpty = pieces.length === 0
  const { file } = forms.find(({ name }) => name === form)!
  const save = (): void => inspector.kept.ports.save(new Blob([...pieces]), file(view.agentId))
  return (
    <FormDialog
      title="Export"
      verb="Save"
      isOff={isEmpty}
      onSubmit={() => {
        save()
        onClose()
      }}
      onClose={onClose}
    >
      <fieldset class="choices" aria-label="As">
        {forms.map(({ name, label, about }) => (
          <label key={name} class="choice">
            <input type="radio" name="form" checked={form === name} onChange={() => setForm(name)} />
            <span class="choice-text">
              <strong>{label}</strong>
              <span class="choice-parts">{about}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {asksFor(form) ? (
        <label class="field">
          <span>Expected in the answer</span>
          <input
            class="input"
            value={expect}
            placeholder="Optional: left empty, no call may fail"
            onInput={({ currentTarget }) => setExpect(currentTarget.value)}
          />
        </label>
      ) : null}
      {note === undefined ? null : (
        <p class={isEmpty && isWhole ? 'problem' : 'muted'} role="status">
          {note}
        </p>
      )}
      {isEmpty ? null : (
        <div class="export-preview">
          <div class="export-head small muted">
            <span class="grow number">{counted(lineCount(pieces), 'line')}</span>
            {form === 'log' ? null : <CopyButton text={() => pieces.join('')} label={copyWords[form]} isLabelled />}
          </div>
          <pre class="text scroll" tabIndex={0} aria-label="Preview">
            {forDisplay(cutEnd(beginningOf(pieces), mostShown))}
          </pre>
        </div>
      )}
    </FormDialog>
  )
}

function lineCount(pieces: readonly string[]): number {
  let count = 0
  for (const piece of pieces) for (let at = piece.indexOf('\n'); at >= 0; at = piece.indexOf('\n', at + 1)) count += 1
  return count
}

/** Joins pieces until there is enough to show. */
function beginningOf(pieces: readonly string[]): string {
  let text = ''
  for (const piece of pieces) {
    if (text.length > mostShown) break
    text += piece
  }
  return text
}
