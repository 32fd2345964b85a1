import { warnProcess } from '../../../src/protocol/callbackBugs.ts'
import type { Pending } from '../../../src/protocol/runs/pending.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'

interface OpenRuntime {
  roots(): readonly Agent[]
}

/** Open runtimes, held weakly so that one dropped without `close` can be collected. */
const open = new Set<WeakRef<OpenRuntime>>()

/**
 * Warns about forgotten approvals: when the process is about to exit with nothing left to do, a warning names every call of the runtime's agents
 * that waits for people, because code awaiting their runs would otherwise never continue. Returns a function that stops this.
 */
export function warnOfForgottenApprovals(runtime: OpenRuntime): () => void {
  const entry = new WeakRef(runtime)
  if (open.size === 0) process.on('beforeExit', warn)
  open.add(entry)
  return () => {
    open.delete(entry)
    if (open.size === 0) process.off('beforeExit', warn)
  }
}

function warn(): void {
  // The warning itself is work, so `beforeExit` would fire again.
  process.off('beforeExit', warn)
  for (const entry of open) for (const agent of entry.deref()?.roots() ?? []) warnOf(agent)
}

/** Parts of the warning for each kind: its wait, and the code that ends it. */
const kinds = {
  approval: { for: 'a decision, and nobody decided it', how: "'approve') or 'deny'", event: 'approval.requested' },
  question: {
    for: 'the answer to its question, and nobody answered',
    how: "{ value }) or 'deny'",
    event: 'question.asked',
  },
  call: { for: 'a client, and none carried it out', how: '{ result }) or { error }', event: 'call.requested' },
} as const satisfies { readonly [K in Pending['kind']]: object }

function warnOf(agent: Agent): void {
  for (const { kind, agentId, key, name } of agent.pending()) {
    const { for: what, how, event } = kinds[kind]
    const waits = `The process ends while a call of "${name}" by agent "${agentId}" waits for ${what}`
    const todo = `agent.decide('${key}', ${how}, in a listener for ${event}.`
    warnProcess(`${waits}: call ${todo}`)
  }
}
