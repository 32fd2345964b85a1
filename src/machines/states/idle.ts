import type { UserSource } from '../../protocol/messages.ts'
import type { QueuedMessage } from '../../protocol/runs/queue.ts'
import { advance, agentSetup } from '../agentSetup.ts'
import type { EventOfType } from '../agentTypes.ts'
import type { Draft } from '../draft.ts'
import { takeLeftovers, takePrompt } from '../queues.ts'
import { addUserMessage, pauseForStore, resumeFailed, startRun, startTurn } from '../runs.ts'

const causes = { prompt: 'prompt', steer: 'steering', followUp: 'followUp' } as const

/** Returns the number of messages that the run begins with; `undefined` for a single one. */
function messagesOf({ context }: Draft, message: QueuedMessage): number | undefined {
  const all = [...context.steering, ...context.followUps, message]
  const count = all.reduce((sum, said) => sum + 1 + (said.context?.length ?? 0), 0)
  return count === 1 ? undefined : count
}

/** Adds the messages that the last run left unsaid, then the message that started this one. */
function addUserMessages(draft: Draft, message: QueuedMessage, source: UserSource): void {
  takeLeftovers(draft, (said, queue) => addUserMessage(draft, said, queue === 'steering' ? 'steering' : 'followUp'))
  addUserMessage(draft, message, source)
}

type Message = EventOfType<'prompt' | 'steer' | 'followUp'>

function openRun(draft: Draft, event: Message): void {
  const cause = causes[event.type]
  const limits = event.type === 'prompt' ? event.limits : undefined
  startRun(draft, { cause, requestId: event.id, limits, messages: messagesOf(draft, event) })
  addUserMessages(draft, event, cause)
}

/** Starts a run with a message to an agent at rest, whichever way the message was sent. */
export const beginRun = advance<Message>((draft, event) => {
  openRun(draft, event)
  startTurn(draft)
})

/** Starts a run without its turn, which is opened after the drain that comes first. */
const beginColdRun = advance<Message>(openRun)

export const beginQueuedRun = advance((draft) => {
  const prompt = takePrompt(draft)!
  const { id: requestId, limits } = prompt
  startRun(draft, { cause: 'prompt', requestId, limits, messages: messagesOf(draft, prompt) })
  addUserMessages(draft, prompt, 'prompt')
  startTurn(draft)
})

const begins = [
  { guard: 'beginsCold', target: 'draining.folding', description: 'a message', actions: beginColdRun },
  { guard: 'beginsPrepared', target: 'preparing', description: 'a message', actions: beginRun },
  { guard: 'mayBegin', target: 'replying', description: 'a message', actions: beginRun },
] as const

export const idle = agentSetup.createStateConfig({
  description: 'At rest: no run is in progress.',
  always: [
    { guard: 'isEnding', target: 'stopped' },
    { guard: 'isTaskDone', target: 'stopped' },
    { guard: 'isPaused', target: 'paused' },
    { guard: 'changeRequested', target: 'draining' },
    { guard: 'storeBroken', target: 'paused', actions: advance(pauseForStore) },
    { guard: 'resumesFailed', target: 'draining', actions: advance(resumeFailed) },
    { guard: 'queuedPrepared', target: 'preparing', actions: beginQueuedRun },
    { guard: 'hasPrompts', target: 'replying', actions: beginQueuedRun },
    { guard: 'consultEnabled', target: 'draining.consulting' },
  ],
  on: {
    prompt: begins,
    steer: begins,
    followUp: begins,
  },
})
