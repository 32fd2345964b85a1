import { advance, agentSetup } from '../agentSetup.ts'
import type { EventOfType } from '../agentTypes.ts'
import { takePrompt } from '../queues.ts'
import { addUserMessage, pauseRun, startRun, startTurn } from '../runs.ts'

const causes = { prompt: 'prompt', steer: 'steering', followUp: 'followUp' } as const

/** A message to an agent at rest starts a run, whichever way it was said. */
export const beginRun = advance<EventOfType<'prompt' | 'steer' | 'followUp'>>((draft, event) => {
  const cause = causes[event.type]
  const limits = event.type === 'prompt' ? event.limits : undefined
  startRun(draft, { cause, requestId: event.id, limits, at: event.at })
  addUserMessage(draft, event, cause)
  startTurn(draft)
})

export const beginQueuedRun = advance((draft) => {
  const prompt = takePrompt(draft)!
  startRun(draft, { cause: 'prompt', requestId: prompt.id, limits: prompt.limits, at: prompt.at })
  addUserMessage(draft, prompt, 'prompt')
  startTurn(draft)
})

/** The store takes no records: nothing more is started until `resume`. */
export const pauseForStore = advance((draft) => {
  const error = draft.context.storeError!
  pauseRun(draft, { type: 'store', error })
})

export const idle = agentSetup.createStateConfig({
  always: [
    { guard: 'storeBroken', target: 'paused', actions: pauseForStore },
    { guard: 'hasPrompts', target: 'replying', actions: beginQueuedRun },
  ],
  on: {
    prompt: { target: 'replying', actions: beginRun },
    steer: { target: 'replying', actions: beginRun },
    followUp: { target: 'replying', actions: beginRun },
  },
})
