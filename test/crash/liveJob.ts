import { appendFileSync, mkdirSync } from 'node:fs'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { policy } from '../../src/actors/define/policy.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import type { ConversationNode } from '../../src/conversation/tree/node.ts'
import type { AgentCommand } from '../../src/protocol/bridge/commands.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { Model, ModelRequest } from '../../src/protocol/ports/model.ts'
import type { RecordOf } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { readAll } from '../../packages/evaluation/src/testing/contractDemands.ts'
import {
  deniedItem,
  helperJob,
  jobEntries,
  jobHooks,
  mainJob,
  resultOf,
  sayings,
  wishes,
  type Job,
  type JobFiles,
} from './crashJob.ts'
import { jobPolicy } from './jobPolicy.ts'

/** Hides the oldest step that may be hidden, every six turns, once a model has agreed. */
const tidy = policy({
  name: 'tidy',
  when: { name: 'every six', fires: ({ turn, last }) => (turn - (last?.turn ?? 0) >= 6 ? 'six turns' : null) },
  decide: {
    name: 'the oldest, if a model agrees',
    async decide(at) {
      const oldest = at.steps.find(({ fixed }) => fixed === undefined)
      if (oldest === undefined) return null
      const answer = await at.ask({ model: agreeing, system: 'Answer yes or no.', text: `hide ${oldest.id}?` })
      return answer === 'yes' ? { hide: [oldest.id] } : null
    },
  },
})

const agreeing = policyModel(() => 'yes')

/** The job's model, which notes down what is wrong with the requests of this life. */
function modelOf(job: Job, files: JobFiles): Model {
  const decide = jobPolicy(job)
  let previous: ModelRequest | undefined
  return policyModel((request, place) => {
    // What the source has may have changed in between.
    const isSame = previous?.tools.length === request.tools.length
    for (const { rule, message } of checkRequest(request, isSame ? { previous: previous! } : {}))
      appendFileSync(files.faults, `${job.prefix}: rule ${rule}: ${message}\n`)
    previous = request
    return decide(request, place)
  })
}

function helperOf(item: string, files: JobFiles): AgentDefinition {
  const job = helperJob(`s${item.slice(2).replace('.', '_')}`)
  return defineAgent({
    name: 'helper',
    model: modelOf(job, files),
    tools: jobEntries(files),
    ...jobHooks(files),
    checkRequests: true,
  })
}

/** The agent of this id, gone on with or new; a run that was cut off, or waited for people, has ended when it is there. */
async function bringUp(
  runtime: Runtime,
  agentId: string,
  definition: AgentDefinition,
  attend: (agent: Agent) => void = () => {},
): Promise<Agent> {
  const agent = await runtime.resume(agentId, definition, { continue: false }).catch((thrown: unknown) => {
    if (!(thrown instanceof RuntimeError) || thrown.code !== 'AGENT_NOT_FOUND') throw thrown
    return runtime.spawn(definition, { id: agentId })
  })
  const ended = agent.pause?.type === 'approvals' ? endOfRun(agent) : undefined
  attend(agent)
  if (agent.pause?.type === 'interrupted') await agent.resume().result
  await ended
  // Listeners hear of a record before the store has it.
  await agent.durable()
  return agent
}

const endOfRun = (agent: Agent): Promise<void> =>
  new Promise((resolve) => {
    agent.subscribe((event) => event.type === 'run.end' && resolve())
  })

const hasHeard = (agent: Agent, words: string): boolean =>
  agent.conversation.log().some(({ message }) => message.role === 'user' && textOf(message.content) === words)

/** Acts of a person on an agent with this log; nothing that is in it is said again. */
function personFor(log: string): (agent: Agent) => void {
  const known = [...Object.values(sayings).map(({ text }) => text), ...Object.keys(wishes)]
  const said = new Set(known.filter((text) => log.includes(text)))
  const moments = [...Object.values(sayings), ...Object.values(wishes)]
  const isEnd = (text: string, item: string | undefined): boolean => text.includes(`item ${item} done`)
  const ended = new Set<string | undefined>(moments.flatMap(({ after }) => (isEnd(log, after) ? [after] : [])))
  return (agent) => {
    const say = (): void => {
      for (const how of ['steer', 'followUp'] as const) {
        const { text, after } = sayings[how]
        if (!ended.has(after) || said.has(text)) continue
        said.add(text)
        agent[how](text)
      }
    }
    const wish = (): void => {
      for (const [requestId, { of, after }] of Object.entries(wishes)) {
        if (!ended.has(after) || said.has(requestId)) continue
        said.add(requestId)
        const from = requestId === 'person-graft' ? agent.conversation.abandoned() : agent.conversation.trunk()
        const step = of === undefined ? '' : `n${stepOf(from, of)}`
        agent.dispatch(commandOf(requestId as keyof typeof wishes, agent.id, { step, of }), { requestId })
      }
    }
    const decide = (): void => {
      for (const waiting of agent.pending()) {
        const { key } = waiting
        // What an answer set off may have answered the next one.
        if (!agent.pending().some((other) => other.key === key)) continue
        const item = (waiting.input as { item: string }).item
        if (waiting.kind === 'call') agent.decide(key, { result: resultOf(item) })
        else if (waiting.kind === 'question')
          agent.decide(key, { value: waiting.schema['type'] === 'boolean' ? true : 'yes' })
        else if (item === deniedItem) agent.decide(key, 'deny', `item ${item} denied`)
        else agent.decide(key, 'approve')
      }
    }
    agent.subscribe((event: AgentEvent) => {
      if (event.type === 'tool.end')
        for (const { after } of moments) if (isEnd(textOf(event.message.content), after)) ended.add(after)
      if (event.type === 'tool.end' || event.type === 'run.start') {
        say()
        wish()
      }
      decide()
    })
    decide()
  }
}

function commandOf(
  wish: keyof typeof wishes,
  agentId: string,
  { step, of = '' }: { readonly step: string; readonly of: string | undefined },
): AgentCommand {
  if (wish === 'person-graft') return { type: 'agent.graft', agentId, steps: [step] }
  if (wish === 'person-pin') return { type: 'agent.pin', agentId, step }
  if (wish === 'person-brake') return { type: 'agent.brake', agentId, policy: 'tidy' }
  if (wish === 'person-compact') return { type: 'agent.compact', agentId }
  return { type: 'agent.prune', agentId, steps: [step], memo: `item ${of} done: it is hidden` }
}

/** The step among these nodes that holds the result of an item. */
function stepOf(nodes: readonly ConversationNode[], item: string): number {
  const isIt = (text: string): boolean => text.startsWith(`item ${item} done`)
  const node = nodes.find(({ message }) => message.role === 'toolResult' && isIt(textOf(message.content)))
  if (node === undefined) throw new Error(`${item} is not there`)
  return node.id
}

/**
 * Does the main job as agent `job` of a store, from wherever an earlier life ended, and closes the store. Gives the end of the
 * last run.
 */
export async function liveJob(store: Store, files: JobFiles): Promise<RecordOf<'run.end'> | undefined> {
  mkdirSync(files.work, { recursive: true })
  const runtime = await createRuntime({ store })
  /** By a helper whose id is the call's: the same one, on every attempt. */
  const delegate = async (item: string, key: string): Promise<void> => {
    const helper = await bringUp(runtime, key.replaceAll('/', '_'), helperOf(item, files))
    const words = `say(help with ${item.slice(2)})`
    if (!hasHeard(helper, words)) await helper.prompt(words).result
    await helper.close()
  }
  const definition = defineAgent({
    name: 'worker',
    model: modelOf(mainJob, files),
    tools: jobEntries(files, delegate),
    ...jobHooks(files),
    braking: {
      revert: { onUserMessage: 'rebase', undo: true },
      fold: { work: 100, minBatch: 200, keepSteps: 4, indexTokens: 60, cap: 2_000, leastRequests: 0 },
      stall: true,
      policies: [tidy],
    },
    compaction: { contextWindow: 4_000, keepRecent: 8, maxSummaryTokens: 300, maxToolOutputChars: 200 },
    limits: { turns: 120 },
    checkRequests: true,
  })
  const attend = personFor(JSON.stringify(await readAll(store, 'job')))
  const worker = await bringUp(runtime, 'job', definition, attend)
  const { prompt } = sayings
  if (!hasHeard(worker, prompt.text)) await worker.prompt(prompt.text).result
  const end = (await readAll(store, 'job')).findLast((record) => record.type === 'run.end')
  await runtime.close()
  return end
}
