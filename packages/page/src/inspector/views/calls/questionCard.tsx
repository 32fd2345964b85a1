import { useState } from 'preact/hooks'
import type { Decision } from '../../../../../../src/protocol/bridge/commands.ts'
import type { PendingOf } from '../../../../../../src/protocol/runs/pending.ts'
import {
  formOf,
  readFields,
  readTyped,
  type QuestionField,
  type QuestionForm,
} from '../../../../../../src/protocol/bridge/questionForm.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { ControlButton } from '../../parts/controlButton.tsx'
import { CutText } from '../../parts/cutText.tsx'
import { useDraft } from './useDraft.ts'
import { WhoAsks } from './whoAsks.tsx'

export interface CardProps {
  readonly inspector: Inspector
  /** Id of the agent that the answer is sent to: its own, or one above it. */
  readonly via: string
  readonly pending: PendingOf<'question' | 'call'>
}

/** Unsent input: of the one field of a value, or of those of an object. */
type Draft = { readonly [name: string]: string }

const drafts = { none: {} as Draft, isAny: (draft: Draft) => Object.values(draft).some((text) => text !== '') }

/** Name of the one field of a value that is no object. */
const alone = ''

/** A question of a tool, or a call that a client is to carry out, with a form for the answer. */
export function QuestionCard({ inspector, via, pending }: CardProps) {
  const [problem, setProblem] = useState('')
  const { name, key, agentId } = pending
  const [draft, change] = useDraft(inspector, key, drafts)
  const why = inspector.whyNotDecide.value
  const isQuestion = pending.kind === 'question'
  const form: QuestionForm = isQuestion ? formOf(pending.schema) : { type: 'text' }
  const decide = (decision: Decision): void => {
    const agent = inspector.attached.value.connection.client.agent(via)
    void inspector.attempt(() => agent.decide(key, decision))
  }
  const answer = (typed: Draft = draft): void => {
    const read = form.type === 'object' ? readFields(form.fields, typed) : readTyped(form, typed[alone] ?? '')
    setProblem('problem' in read ? `Check the answer: ${read.problem}.` : '')
    if ('value' in read) decide(isQuestion ? { value: read.value } : { result: read.value })
  }
  const set = (field: string) => (text: string) => change({ [field]: text })
  return (
    <article class="approval" aria-label={isQuestion ? `${name} asks a question` : `${name} waits for a client`}>
      <div class="approval-what">
        <p>
          <strong class="mono">{name}</strong>
          <WhoAsks via={via} agentId={agentId} /> {isQuestion ? 'asks:' : 'is waiting for a client to run it.'}
        </p>
        <CutText text={isQuestion ? pending.question : (JSON.stringify(pending.input, null, 2) ?? '')} most={800} />
        {isQuestion && pending.problem !== undefined ? <p>The last answer was rejected: {pending.problem}</p> : null}
      </div>
      <form
        class="approval-answer"
        aria-label={`Answer to ${name}`}
        onSubmit={(event) => {
          event.preventDefault()
          answer()
        }}
      >
        {form.type === 'object' ? (
          form.fields.map((field) => (
            <Labelled key={field.name} field={field} value={draft[field.name] ?? ''} onInput={set(field.name)} />
          ))
        ) : form.type === 'boolean' ? null : (
          <Field label={`Answer to ${name}`} form={form} value={draft[alone] ?? ''} onInput={set(alone)} />
        )}
        <ControlButton why={why} onUse={() => decide('deny')} kind="danger">
          {isQuestion ? 'Decline' : 'Deny'}
        </ControlButton>
        {form.type === 'boolean' ? (
          <>
            <ControlButton why={why} onUse={() => answer({ [alone]: 'no' })}>
              No
            </ControlButton>
            <ControlButton why={why} onUse={() => answer({ [alone]: 'yes' })} kind="primary">
              Yes
            </ControlButton>
          </>
        ) : (
          <ControlButton why={why} onUse={() => answer()} kind="primary">
            Answer
          </ControlButton>
        )}
      </form>
      {problem === '' ? null : <p role="alert">{problem}</p>}
    </article>
  )
}

interface FieldProps {
  readonly label: string
  readonly form: QuestionField['form']
  readonly value: string
  readonly onInput: (text: string) => void
}

function Labelled({ field, ...rest }: { readonly field: QuestionField } & Pick<FieldProps, 'value' | 'onInput'>) {
  const { name, form, isRequired, description } = field
  return (
    <label class="answer-field" title={description}>
      <span>
        {name}
        {isRequired ? '' : ' (optional)'}
      </span>
      <Field label={description === '' ? name : `${name}: ${description}`} form={form} {...rest} />
    </label>
  )
}

const yesOrNo = { type: 'choice', values: ['yes', 'no'] } as const

function Field({ label, form, value, onInput }: FieldProps) {
  if (form.type === 'choice' || form.type === 'boolean') {
    const { values } = form.type === 'boolean' ? yesOrNo : form
    return (
      <select
        class="input"
        aria-label={label}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      >
        <option value="">Choose …</option>
        {values.map((one) => (
          <option key={one} value={String(one)}>
            {one}
          </option>
        ))}
      </select>
    )
  }
  return (
    <input
      class="input"
      dir="auto"
      aria-label={label}
      placeholder={form.type === 'json' ? 'JSON' : form.type === 'number' ? 'A number' : ''}
      inputMode={form.type === 'number' ? 'decimal' : 'text'}
      value={value}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
  )
}
