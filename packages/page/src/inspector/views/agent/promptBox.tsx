import { useEffect, useRef, useState } from 'preact/hooks'
import { textOf } from '../../../../../../src/protocol/messages.ts'
import type { QueueName } from '../../../../../../src/protocol/runs/queue.ts'
import { isBusy } from '../../model/agent/controls.ts'
import { goBack, loopTarget } from '../../model/sessions/goBack.ts'
import { say, type SayHow } from '../../model/agent/say.ts'
import { oneLine } from '../../model/words/shortText.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { ControlButton } from '../../parts/controlButton.tsx'
import { Icon } from '../../parts/icon.tsx'

interface Way {
  readonly how: SayHow
  readonly label: string
  readonly about: string
  /** Queue in which a message waits until it is read. */
  readonly queue?: QueueName
}

const ways: readonly Way[] = [
  { how: 'steer', queue: 'steering', label: 'Steer', about: 'Sent during the run, before the next reply' },
  {
    how: 'followUp',
    queue: 'followUps',
    label: 'Follow up',
    about: 'Sent when the agent finishes, in the same run',
  },
  { how: 'prompt', queue: 'prompts', label: 'Queue', about: 'Starts a new run after this one' },
  { how: 'interrupt', label: 'Interrupt', about: 'Stops this run and starts another' },
]

export interface PromptBoxProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
}

/** Field in which a person talks to the agent, with buttons that abort or resume its run. Text and choice are kept for this agent only. */
export function PromptBox({ inspector, view }: PromptBoxProps) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<SayHow>('steer')
  const box = useRef<HTMLTextAreaElement>(null)
  const { chartState, status } = view.state.value
  const controls = inspector.controls.value
  const isInRun = isBusy(chartState)
  const how: SayHow = isInRun ? chosen : 'prompt'
  const why = controls[how]
  const { connection, directory } = inspector.attached.value
  const agent = connection.client.agent(view.agentId)
  const summary = chartState === 'paused' ? directory.agents.value.get(view.agentId) : undefined
  const before = summary === undefined ? undefined : loopTarget({ standing: 'paused', of: summary })

  useEffect(() => {
    const area = box.current
    if (area === null) return
    area.style.height = 'auto'
    area.style.height = `${Math.min(160, area.scrollHeight + 2)}px`
  }, [text])

  const send = async (): Promise<void> => {
    if (why !== null || text.trim() === '') return
    setText('')
    const isDone = await inspector.attempt(() => say(agent, how, text))
    if (!isDone) setText((typed) => (typed === '' ? text : typed))
  }
  if (status !== 'live') return null
  return (
    <form
      class="prompt"
      aria-label="Send a message"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <Unread view={view} />
      {isInRun && why === null ? <Ways chosen={chosen} onChoose={setChosen} /> : null}
      <div class="prompt-line">
        <textarea
          ref={box}
          id="prompt"
          class="input grow"
          dir="auto"
          rows={1}
          value={text}
          readOnly={why !== null}
          aria-label={isInRun ? 'Message to the running agent' : 'Prompt'}
          placeholder={why ?? (isInRun ? 'Message the running agent' : 'Prompt the agent')}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            void send()
          }}
        />
        {before === undefined ? null : (
          <ControlButton
            why={controls.resume}
            label={`Go back to ${before}, before the loop, and go on`}
            onUse={() => void inspector.attempt(() => goBack(agent, before))}
          >
            Go back to {before}
          </ControlButton>
        )}
        {chartState === 'paused' ? (
          <ControlButton why={controls.resume} onUse={() => void inspector.attempt(() => say(agent, 'resume', ''))}>
            <Icon name="resume" /> Resume
          </ControlButton>
        ) : null}
        {isInRun ? (
          <ControlButton why={controls.abort} kind="danger" onUse={() => void inspector.attempt(() => agent.abort())}>
            <Icon name="abort" /> Abort
          </ControlButton>
        ) : null}
        <ControlButton why={why} kind="primary" onUse={() => void send()}>
          <Icon name="send" /> {isInRun ? ways.find((way) => way.how === how)!.label : 'Prompt'}
        </ControlButton>
      </div>
    </form>
  )
}

const Ways = ({ chosen, onChoose }: { readonly chosen: SayHow; readonly onChoose: (how: SayHow) => void }) => (
  <div class="ways" role="radiogroup" aria-label="When to send it">
    {ways.map(({ how, label, about }) => (
      <label key={how} title={about}>
        <input type="radio" name="how" checked={how === chosen} onChange={() => onChoose(how)} />
        <span>{label}</span>
      </label>
    ))}
  </div>
)

/** The first few messages of people that the agent has not read yet, in the order in which it will read them. */
function Unread({ view }: { readonly view: FollowedAgent }) {
  const { queues } = view.state.value
  const unread = ways.flatMap(({ queue, label }) =>
    (queue === undefined ? [] : queues[queue]).map(({ id, content }) => ({ id, label, text: textOf(content) })),
  )
  if (unread.length === 0) return null
  return (
    <ul class="unread small" aria-label="Not read yet">
      {unread.slice(0, 3).map(({ id, label, text }) => (
        <li key={id} class="cut">
          <span class="faint">{label}, not read yet:</span> <bdi>{oneLine(text, 200)}</bdi>
        </li>
      ))}
    </ul>
  )
}
