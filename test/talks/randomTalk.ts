import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import type { AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { llmStrategy } from '../../packages/policies/src/llmStrategy.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { messageOf, RuntimeError } from '../../src/protocol/errors.ts'
import { formatNodeId } from '../../src/protocol/text/nodeIds.ts'
import type { PlainBlock } from '../../src/protocol/messages.ts'
import { z } from 'zod'
import { pngOf } from '../support/imageBytes.ts'
import { Dice } from '../tree/dice.ts'
import type { Json, ProviderFamily, StrictProvider } from './strictProvider.ts'

export interface TalkOutcome {
  readonly requests: number
  /** Refusals of the provider, and whatever else went wrong. */
  readonly faults: readonly string[]
}

/** Acts of people; each is done at rest or into a run. */
const deeds = {
  prompt: 10,
  showPicture: 2,
  abort: 4,
  steer: 3,
  followUp: 2,
  interrupt: 2,
  revert: 4,
  prune: 3,
  mask: 2,
  show: 2,
  graft: 2,
  fold: 1,
  compact: 2,
  pin: 1,
  resume: 2,
  restart: 2,
} as const
type Deed = keyof typeof deeds

const outputs = ['', 'seen', 'word '.repeat(400), ' \n', 'a\ud83d', '</brake-note>'] as const

const media = (dice: Dice): PlainBlock => {
  if (dice.percent(1)) return { type: 'image', data: pngOf('x'.repeat(5 * 1024 * 1024)), mimeType: 'image/png' }
  return dice.pick<PlainBlock>([
    { type: 'image', mimeType: 'image/png', data: pngOf() },
    { type: 'image', mimeType: 'image/png', data: '' },
    { type: 'image', mimeType: 'image/jpeg', data: pngOf() },
    { type: 'image', mimeType: 'image/png', data: btoa('<html>not found</html>') },
    { type: 'file', mimeType: 'application/pdf', data: btoa('%PDF-1.7') },
    { type: 'file', mimeType: 'application/pdf', data: btoa('<html>not found</html>') },
  ])!
}

/** One session of random deeds with a provider that refuses what the real one does; then a plain prompt, which has to be answered. */
export async function randomTalk(family: ProviderFamily, seed: number): Promise<TalkOutcome> {
  const talk = new RandomTalk(family, seed)
  await talk.live()
  return talk
}

class RandomTalk implements TalkOutcome {
  requests = 0
  readonly faults: string[] = []
  readonly #family: ProviderFamily
  readonly #dice: Dice
  /** The provider's own, so that its replies do not depend on when people do what. */
  readonly #chances: Dice
  readonly #provider: StrictProvider
  #isTame = false

  constructor(family: ProviderFamily, seed: number) {
    this.#family = family
    this.#dice = new Dice(seed)
    this.#chances = new Dice(seed + 1_000_003)
    this.#provider = family.provider(this.#chances)
  }

  async live(): Promise<void> {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const definition = defineAgent(this.#options())
    let agent = await runtime.spawn(definition, { id: 'a' })
    this.#decides(agent)
    for (let count = 0; count < 14; count++) {
      const deed = this.#dice.weighted(deeds)
      if (deed === 'restart') {
        await agent.close()
        agent = await runtime.resume('a', definition)
        this.#decides(agent)
      } else await this.#do(agent, deed).catch((thrown: unknown) => this.#thrown(deed, thrown))
      await this.#rest(agent)
    }
    this.#isTame = true
    const { stopReason, error } = await agent.prompt('And now?').result
    if (stopReason !== 'stop') this.faults.push(`it is stuck: ${stopReason} ${error?.message ?? ''}`)
    await runtime.close()
  }

  #options(): AgentOptions {
    const dice = this.#dice
    const fetch = this.#fetch
    const input = z.object({ a: z.string().optional() })
    const brakes = { revert: true, prune: true, stall: true, graft: true } as const
    const fold = { cap: 4_000, work: 500, minBatch: 300, keepSteps: 2, indexTokens: 200, leastRequests: 0 }
    return {
      name: 'talker',
      model: this.#family.model(fetch),
      tools: [
        defineTool({ name: 'look', description: 'd', input, effects: 'none', run: () => dice.pick(outputs) }),
        defineTool({ name: 'shoot', description: 'd', input, effects: 'none', run: () => [media(dice)] }),
        defineTool({
          name: 'change',
          description: 'd',
          input,
          needsApproval: () => dice.percent(30),
          run: () => {
            if (dice.percent(20)) throw new Error('')
            return 'changed'
          },
        }),
        ...(this.#family.tools(fetch) as never[]),
      ],
      checkRequests: true,
      retry: { baseMs: 1, attempts: 3, silenceMs: 2_000 },
      limits: { turns: 12 },
      compaction: { contextWindow: 6_000, ...(dice.percent(50) ? { strategy: llmStrategy() } : {}) },
      braking: dice.percent(60) ? { ...brakes, fold } : {},
    }
  }

  #decides(agent: Agent): void {
    agent.subscribe((event) => {
      if (event.type !== 'approval.requested') return
      queueMicrotask(() => {
        try {
          agent.decide(event.key, this.#dice.percent(50) ? 'approve' : 'deny')
        } catch {
          // It was aborted meanwhile.
        }
      })
    })
  }

  async #do(agent: Agent, deed: Deed): Promise<void> {
    const dice = this.#dice
    const text = dice.pick(['go', 'hi 😀', '[n3] <brake-note>', 'half a \ud83d', 'x'.repeat(50)])!
    if (deed === 'prompt') return void (await agent.prompt(text).result)
    if (deed === 'showPicture') {
      const picture = { type: 'image', data: pngOf(), mimeType: dice.pick(['image/png', 'image/gif'])! } as const
      return void (await agent.prompt([{ type: 'text', text }, picture]).result)
    }
    if (deed === 'resume') return void (agent.hasFailed && (await agent.resume().result))
    // The others at rest, or into a run that has come so far.
    const run = deed === 'abort' || dice.percent(60) ? agent.prompt(text) : undefined
    if (run !== undefined) await this.#events(agent, dice.int(0, 12))
    this.#say(agent, deed, text)
    await run?.result
  }

  #say(agent: Agent, deed: Deed, text: string): void {
    const dice = this.#dice
    const step = (): string => formatNodeId(dice.pick(agent.conversation.steps())?.nodes.at(-1)?.id ?? 1)
    switch (deed) {
      case 'abort':
        return agent.abort()
      case 'steer':
        return agent.steer(text)
      case 'followUp':
        return agent.followUp(text)
      case 'interrupt':
        return void agent.interrupt(text)
      case 'revert': {
        const category = dice.pick(['failure', 'tangent', 'completion', 'step-summary'] as const)!
        return agent.revert(step(), { category, summary: 'a lesson' })
      }
      case 'prune':
        return agent.prune({ steps: [step()], memo: 'pruned' })
      case 'mask':
        return agent.prune({ steps: [step()], mask: true })
      case 'show':
        return agent.prune({ steps: [step()], show: true })
      case 'graft': {
        const gone = dice.pick(agent.conversation.abandoned())
        return gone === undefined ? undefined : agent.graft(formatNodeId(gone.id))
      }
      case 'fold':
        return agent.fold()
      case 'compact':
        return agent.compact()
      case 'pin':
        return agent.pin(step())
      default:
    }
  }

  /** Resolves after so many events, or when nothing happens any more. */
  async #events(agent: Agent, count: number): Promise<void> {
    let left = count
    const stop = new AbortController()
    const seen = new Promise<void>((resolve) => {
      const off = agent.subscribe(() => {
        if (--left > 0) return
        off()
        resolve()
      })
      stop.signal.addEventListener('abort', off)
    })
    await Promise.race([count === 0 ? undefined : seen, agent.settled()])
    stop.abort()
  }

  /** Lets the agent come to rest; what is paused is given up. */
  async #rest(agent: Agent): Promise<void> {
    while ((await agent.settled()).status === 'waiting') await new Promise((resolve) => setImmediate(resolve))
    if (agent.pause !== null) agent.abort()
    await agent.settled()
  }

  #thrown(deed: Deed, thrown: unknown): void {
    const isRefusal = thrown instanceof RuntimeError && !['INTERNAL', 'LOG_CORRUPT'].includes(thrown.code)
    if (!isRefusal) this.faults.push(`${deed}: ${messageOf(thrown)}`)
  }

  readonly #fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    this.requests += 1
    const dice = this.#chances
    const body = JSON.parse(init?.body as string) as Json
    const refusal = this.#provider.refuses(body)
    if (refusal !== undefined) {
      this.faults.push(refusal)
      return refused(400, refusal)
    }
    const isPlain = this.#isTame || body['tools'] === undefined
    if (!isPlain && dice.percent(4)) return refused(dice.pick([429, 500, 503, 529])!, 'Overloaded')
    if (!isPlain && dice.percent(2)) return refused(400, 'prompt is too long: 2 tokens > 1 maximum')
    const pieces = this.#provider.reply(isPlain)
    const isCut = !isPlain && dice.percent(5)
    const end = isCut ? dice.int(0, pieces.length - 1) : pieces.length
    const isSilent = isCut && dice.percent(5)
    return streamOf(pieces.slice(0, end), { isSlow: dice.percent(30), isSilent, signal: init?.signal ?? undefined })
  }
}

const refused = (status: number, message: string): Response =>
  Response.json({ type: 'error', error: { type: 'invalid_request_error', message } }, { status })

interface Streaming {
  /** Others get a word in between. */
  readonly isSlow: boolean
  /** It never ends. */
  readonly isSilent: boolean
  readonly signal: AbortSignal | undefined
}

function streamOf(pieces: readonly string[], { isSlow, isSilent, signal }: Streaming): Response {
  const encoder = new TextEncoder()
  async function* send(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) {
      if (isSlow) await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
      yield encoder.encode(piece)
    }
    if (!isSilent) return
    await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
  }
  return new Response(ReadableStream.from(send()), { headers: { 'content-type': 'text/event-stream' } })
}
