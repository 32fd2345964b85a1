import { errorInfo, messageOf } from '../../protocol/errors.ts'
import { advance, agentSetup } from '../agentSetup.ts'
import type { PrepareOutput } from '../effectTypes.ts'
import { takeMemory, prepareInput, prepareTurn, takeTools } from '../turns.ts'
import { failRunWith, pauseForDeadline, pauseForStore } from '../runs.ts'

type Prepared = { readonly output: Extract<PrepareOutput, { ok: true }> }
type Failed = { readonly output: Extract<PrepareOutput, { ok: false }> }

/** State in which code decides the parameters of a turn before it is requested. */
export const preparing = agentSetup.createStateConfig({
  description: 'Code decides what the turn is asked with.',
  invoke: {
    src: 'prepareTurn',
    id: 'prepare',
    input: ({ context }) => prepareInput(context),
    onDone: [
      { guard: 'isStalePreparation' },
      {
        guard: 'prepared',
        target: 'replying',
        actions: advance<Prepared>((draft, { output: { tools, memory, decision } }) => {
          takeMemory(draft, memory)
          takeTools(draft, tools)
          prepareTurn(draft, decision)
        }),
      },
      {
        target: 'idle',
        description: 'fails',
        actions: advance<Failed>((draft, { output }) => failRunWith(draft, output.error)),
      },
    ],
    onError: {
      target: 'idle',
      description: 'fails',
      actions: advance<{ readonly error: unknown }>((draft, { error }) =>
        failRunWith(draft, errorInfo('HOOK_FAILED', `The turn could not be prepared: ${messageOf(error)}.`)),
      ),
    },
  },
  always: [
    { guard: 'storeBroken', target: 'paused', actions: advance(pauseForStore) },
    { guard: 'answersAtDeadline', target: 'draining.leaving' },
    { guard: 'deadlinePassed', target: 'paused', actions: advance(pauseForDeadline) },
  ],
})
