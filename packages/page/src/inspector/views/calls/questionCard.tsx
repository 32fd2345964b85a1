import { useState } from 'preact/hooks'
import type { Decision } from '../../../../../../src/protocol/bridge/commands.ts'
import type { PendingOf } from '../../../../../../src/protocol/runs/pending.ts'
import { hasCode, withoutAdvice } from '../../../../../../src/protocol/errors.ts'
import {
  formOf,
  limitWords,
  readFields,
  readTyped,
  refusedFields,
  type QuestionField,
  type QuestionForm,
} from '../../../../../bridge/src/client/questionForm.ts'
import { quickAnswers } from '../../../../../bridge/src/client/quickAnswers.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { ControlButton } from '../../parts/controlButton.tsx'
import { CutText } from '../../parts/cutText.tsx'
import { useDraft } from './useDraft.ts'
import { WhoAsks } from './whoAsks.tsx'

export interface CardProps {
  readonly inspector: Inspector
  /** Id of the agent that receives the answer: the item's own agent, or one above it. */
  readonly via: string
  readonly pending: PendingOf<'question' | 'call'>
}

/** Unsent input: one field for a value, or the fields of an object. */
type Draft = { readonly [name: string]: string }

const drafts = { none: {} as Draft, isAny: (draft: Draft) => Object.values(draft).some((text) => text !== '') }

/** Name of the only field of a value that is no object, and of the problem with an answer as a whole. */
const alone = ''

/** Problems of an answer, by the names of its fields. */
const noProblems: { readonly [name: string]: string } = {}

/** Converts a text into an id for the document, which has no spaces. */
const idOf = (text: string): string => text.replace(/[^\w-]/g, (sign) => `_${sign.codePointAt(0)!.toString(36)}`)

/** A question of a tool, or a call that a client is to carry out, with a form for the answer. */
export function QuestionCard({ inspector, via, pending }: CardProps) {
  const [problems, setProblems] = useState(noProblems)
  const { name, key, agentId } = pending
  const [draft, change] = useDraft(inspector, key, drafts)
  const why = inspector.whyNotDecide.value
  const isQuestion = pending.kind === 'question'
  const form: QuestionForm = isQuestion ? formOf(pending.schema) : { type: 'text' }
  const fields = form.type === 'object' ? form.fields : []
  const quick = isQuestion ? quickAnswers(pending.schema) : undefined
  /** Returns true if an answer was refused, and shows the refusal here, at the fields that it names. */
  const isRefusal = (thrown: unknown): boolean => {
    if (!hasCode(thrown, 'ANSWER_INVALID')) return false
    const said = withoutAdvice(thrown)
    const named = refusedFields(fields, said)
    setProblems(Object.keys(named).length > 0 ? named : { [alone]: said })
    return true
  }
  const decide = (decision: Decision): void => {
    const agent = inspector.attached.value.connection.client.agent(via)
    void inspector.attempt(() => agent.decide(key, decision), isRefusal)
  }
  const answer = (): void => {
    const read = form.type === 'object' ? readFields(fields, draft) : readTyped(form, draft[alone] ?? '')
    if ('value' in read) {
      setProblems(noProblems)
      decide(isQuestion ? { value: read.value } : { result: read.value })
    } else setProblems('problems' in read ? read.problems : { [alone]: read.problem })
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
        class={`approval-answer ${form.type === 'object' ? 'has-fields' : ''}`}
        aria-label={`Answer to ${name}`}
        onSubmit={(event) => {
          event.preventDefault()
          answer()
        }}
      >
        {form.type === 'object' ? (
          <div class="answer-fields">
            {fields.map((field) => (
              <Labelled
                key={field.name}
                field={field}
                id={`${key} ${field.name}`}
                problem={problems[field.name]}
                value={draft[field.name] ?? ''}
                onInput={set(field.name)}
              />
            ))}
          </div>
        ) : quick !== undefined ? null : (
          <Field
            label={`Answer to ${name}`}
            form={form}
            value={draft[alone] ?? ''}
            onInput={set(alone)}
            problem={problems[alone]}
          />
        )}
        <ControlButton why={why} onUse={() => decide('deny')} kind="danger">
          {isQuestion ? 'Decline' : 'Deny'}
        </ControlButton>
        {quick?.map(({ label, value }) => (
          <ControlButton key={label} why={why} onUse={() => decide({ value })} kind="primary">
            {label}
          </ControlButton>
        )) ?? (
          <ControlButton why={why} onUse={() => answer()} kind="primary">
            Answer
          </ControlButton>
        )}
      </form>
      {problems[alone] === undefined ? null : (
        <p class="problem" role="alert">
          {problems[alone]}
        </p>
      )}
    </article>
  )
}

interface FieldProps {
  readonly label: string
  readonly form: QuestionField['form']
  readonly value: string
  readonly onInput: (text: string) => void
  readonly problem: string | undefined
  /** Ids of the texts that describe the field. */
  readonly describedBy?: string
}

interface LabelledProps extends Pick<FieldProps, 'value' | 'onInput' | 'problem'> {
  readonly field: QuestionField
  readonly id: string
}

/** A field under its name, with its description and limits from the schema, and its problem. */
function Labelled({ field, id, problem, ...rest }: LabelledProps) {
  const { name, form, isRequired, description } = field
  const limits = form.type === 'text' || form.type === 'number' ? limitWords(form) : ''
  const about = [description, limits].filter((words) => words !== '').join(' · ')
  return (
    <label class="answer-field">
      <span>
        {name}
        {isRequired ? '' : ' (optional)'}
      </span>
      {about === '' ? null : (
        <span id={`${idOf(id)}-about`} class="muted">
          <bdi>{about}</bdi>
        </span>
      )}
      <Field
        label={name}
        form={form}
        problem={problem}
        describedBy={`${idOf(id)}-about ${idOf(id)}-problem`}
        {...rest}
      />
      {problem === undefined ? null : (
        <span id={`${idOf(id)}-problem`} class="answer-problem" role="alert">
          {problem}
        </span>
      )}
    </label>
  )
}

const yesOrNo = { type: 'choice', values: ['yes', 'no'] } as const

function Field({ label, form, value, onInput, problem, describedBy }: FieldProps) {
  const shared = {
    class: 'input',
    'aria-label': label,
    'aria-invalid': problem !== undefined,
    'aria-describedby': describedBy,
    value,
  } as const
  if (form.type === 'choice' || form.type === 'boolean') {
    const { values } = form.type === 'boolean' ? yesOrNo : form
    return (
      <select {...shared} onInput={({ currentTarget }) => onInput(currentTarget.value)}>
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
      {...shared}
      dir="auto"
      placeholder={form.type === 'json' ? 'JSON' : form.type === 'number' ? 'A number' : ''}
      inputMode={form.type === 'number' ? 'decimal' : 'text'}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
  )
}
