import type { QueuedMessage, QueueName } from '../protocol/runs/queue.ts'
import type { Draft } from './draft.ts'

/** Returns the part of a command that waits in a queue. */
const waitingOf = ({ id, content, provenance, context, limits }: QueuedMessage): QueuedMessage => ({
  id,
  content,
  ...(provenance === undefined ? {} : { provenance }),
  ...(context === undefined ? {} : { context }),
  ...(limits === undefined ? {} : { limits }),
})

/** Puts a message at the end of a queue or, with `first`, at its start. */
export function enqueueMessage(draft: Draft, queue: QueueName, message: QueuedMessage, first?: true): void {
  const entry = waitingOf(message)
  const waiting = draft.context[queue]
  const next = first ? [entry, ...waiting] : [...waiting, entry]
  draft.set({ [queue]: next })
  draft.record({
    type: 'queue.changed',
    ...draft.at,
    queue,
    added: entry,
    ...(first ? { first } : {}),
    length: next.length,
  })
}

type NewPrompt = QueuedMessage & { readonly interrupt?: true }

/** Queues a prompt as a run of its own. */
export const enqueuePrompt = (draft: Draft, prompt: NewPrompt): void =>
  enqueueMessage(draft, 'prompts', prompt, prompt.interrupt)

/** Queues a message that has no run to go to as the next run, so that nothing a person says is lost. */
export const enqueueSaid = (draft: Draft, message: QueuedMessage): void => enqueueMessage(draft, 'prompts', message)

/** Takes waiting messages off a queue, one or all according to the agent's queue mode, and passes each to `use`. */
export function takeMessages(
  draft: Draft,
  queue: 'steering' | 'followUps',
  use: (message: QueuedMessage) => void,
): void {
  const waiting = draft.context[queue]
  if (waiting.length === 0) return
  const taken = draft.context.policy.queueMode === 'all' ? waiting : waiting.slice(0, 1)
  const rest = waiting.slice(taken.length)
  draft.set({ [queue]: rest })
  draft.record({
    type: 'queue.changed',
    ...draft.at,
    queue,
    removed: taken.map(({ id }) => id),
    why: 'taken',
    length: rest.length,
  })
  for (const message of taken) use(message)
}

/** Takes all messages that their run could not accept. */
export function takeLeftovers(
  draft: Draft,
  use: (message: QueuedMessage, queue: 'steering' | 'followUps') => void,
): void {
  for (const queue of ['steering', 'followUps'] as const) {
    while (draft.context[queue].length > 0) takeMessages(draft, queue, (message) => use(message, queue))
  }
}

/** Takes the next prompt off its queue. */
export function takePrompt(draft: Draft): QueuedMessage | undefined {
  const [prompt, ...rest] = draft.context.prompts
  if (prompt === undefined) return undefined
  draft.set({ prompts: rest })
  draft.record({
    type: 'queue.changed',
    ...draft.at,
    queue: 'prompts',
    removed: [prompt.id],
    why: 'taken',
    length: rest.length,
  })
  return prompt
}

/** Empties queues except for the messages to keep; the dropped messages stay in the log. */
export function dropQueues(
  draft: Draft,
  queues: readonly QueueName[],
  isKept: (message: QueuedMessage) => boolean = () => false,
): void {
  for (const queue of queues) {
    const kept = draft.context[queue].filter(isKept)
    const removed = draft.context[queue].filter((message) => !kept.includes(message)).map(({ id }) => id)
    if (removed.length === 0) continue
    draft.set({ [queue]: kept })
    draft.record({ type: 'queue.changed', ...draft.at, queue, removed, why: 'dropped', length: kept.length })
  }
}

/** Drops the messages sent into an aborted run. Reports of agents are kept, because each is delivered only once. */
export const dropSaid = (draft: Draft): void =>
  dropQueues(draft, ['steering', 'followUps'], ({ provenance }) => provenance?.type === 'report')

/** Withdraws a prompt, if it still waits. */
export const withdrawPrompt = (draft: Draft, { id }: { readonly id: string }): void =>
  dropQueues(draft, ['prompts'], (prompt) => prompt.id !== id)
