import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { RemoteAgent } from '../../../../bridge/src/client/index.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import type { FollowedAgent } from '../model/agent/followedAgent.ts'
import type { Inspector } from '../model/shell/inspector.ts'
import { FormDialog } from './formDialog.tsx'

/** Outcome of a request. */
export interface Answer {
  readonly applied: boolean
  readonly reason?: string | undefined
}

export interface AskDialogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly title: string
  /** Text that explains the effect of the request. */
  readonly children: ComponentChildren
  /** Reason why the request would be refused, so that it cannot be made. */
  readonly whyNot?: string | undefined
  /** Further texts and fields, above the text. */
  readonly fields?: ComponentChildren
  /** Label of the text field; `empty`: the meaning of an empty text. */
  readonly label: string
  readonly empty: string
  /** Label of the button. */
  readonly verb: string
  readonly ask: (agent: RemoteAgent, text: string | undefined) => Promise<void>
  /** Returns the answer if the record is one. */
  readonly answerOf: (record: LogRecord) => Answer | undefined
  readonly onClose: () => void
}

/** Asks an agent to reshape the context of its model, and stays open until that is done or refused. */
export function AskDialog({ inspector, view, title, children, label, empty, verb, ask, ...rest }: AskDialogProps) {
  const { fields, whyNot, answerOf, onClose } = rest
  const [text, setText] = useState('')
  /** `seq` of the last record when the request was made. The outcome comes after it. */
  const [askedAt, setAskedAt] = useState<number | null>(null)
  const { records } = view.state.value
  const answers = askedAt === null ? [] : records.slice(askedAt).flatMap((record) => answerOf(record) ?? [])
  const answer = answers[0]
  const isDone = answer?.applied === true
  useEffect(() => {
    if (isDone) onClose()
  }, [isDone])
  const send = async (): Promise<void> => {
    const agent = inspector.attached.value.connection.client.agent(view.agentId)
    const said = text.trim()
    setAskedAt(records.length)
    const isAsked = await inspector.attempt(() => ask(agent, said === '' ? undefined : said))
    if (!isAsked) setAskedAt(null)
  }
  return (
    <FormDialog
      title={title}
      verb={verb}
      isOff={askedAt === null ? whyNot !== undefined : answer === undefined}
      leave={askedAt === null ? 'Cancel' : 'Close'}
      onSubmit={() => void send()}
      onClose={onClose}
    >
      <p class="muted">{children}</p>
      {whyNot === undefined || askedAt !== null ? null : (
        <p class="problem" role="alert">
          This would be refused: {whyNot}
        </p>
      )}
      {fields}
      <label class="field">
        <span>{label}</span>
        <textarea
          dir="auto"
          class="input"
          rows={4}
          value={text}
          placeholder={empty}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {askedAt === null ? null : <AnswerLine answer={answer} />}
    </FormDialog>
  )
}

function AnswerLine({ answer }: { readonly answer: Answer | undefined }) {
  if (answer === undefined) return <p role="status">Requested. The agent does this between turns.</p>
  if (answer.applied) return null
  return (
    <p class="problem" role="alert">
      Refused: {answer.reason ?? 'no reason was given'}
    </p>
  )
}
