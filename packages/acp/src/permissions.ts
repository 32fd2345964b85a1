import type {
  AgentContext,
  PermissionOption,
  RequestPermissionResponse,
  ToolCallContent,
} from '@agentclientprotocol/sdk'
import { oneLine } from '../../charts/src/plainText.ts'
import { callInFull } from '../../charts/src/text/callInFull.ts'
import { hasCode, messageOf } from '../../../src/protocol/errors.ts'
import type { Pending, PendingOf } from '../../../src/protocol/runs/pending.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { askClient, type Verdict } from './questions.ts'
import { callShape, textContent } from './toolCallShape.ts'

interface PermissionOptions {
  readonly sessionId: string
  readonly client: AgentContext
  /** True if the client can show forms. */
  readonly hasForms: boolean
  /** True if the client may add rules for calls. */
  readonly mayAddRules: boolean
  /** Returns true once the connection is closed; later answers are ignored. */
  isClosed(): boolean
  /** Resolves once all earlier updates have been sent to the client. */
  flushed(): Promise<void>
  /** Wakes the agent, which is then told the decision. */
  driven(): Promise<DrivenAgent>
}

/** Returns the possible answers to a call. A rule adds those that hold for the session. */
const choicesFor = (rule: string | undefined): PermissionOption[] => [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  ...(rule === undefined
    ? []
    : [{ optionId: 'allowAll', name: `Allow ${oneLine(rule)}`, kind: 'allow_always' } as const]),
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
  ...(rule === undefined
    ? []
    : [{ optionId: 'rejectAll', name: `Reject ${oneLine(rule)}`, kind: 'reject_always' } as const]),
]

/** Maximum number of invalid answers that a client may give to a question. */
const maxTries = 5

const noFit: Verdict = { decision: 'deny', reason: 'The client gave no answer that fits.' }

/** Asks a client once about each decision that waits for people, and cancels a request that was decided elsewhere. */
export class Permissions {
  readonly #options: PermissionOptions
  readonly #asked = new Map<string, AbortController>()

  constructor(options: PermissionOptions) {
    this.#options = options
  }

  /** Asks the client. Never rejects. A client that cannot ask, or gives no valid answer, has denied. */
  async ask(agent: DrivenAgent, pending: Pending): Promise<void> {
    const { key } = pending
    if (this.#asked.has(key)) return
    const controller = new AbortController()
    this.#asked.set(key, controller)
    const { isClosed, flushed } = this.#options
    await flushed()
    let asked = pending
    for (let tries = 0; tries <= maxTries && !controller.signal.aborted; tries += 1) {
      const verdict = tries === maxTries ? noFit : await this.#verdict(agent, asked, controller.signal)
      if (controller.signal.aborted || isClosed()) break
      // What follows from it may ask under the same key.
      this.#asked.delete(key)
      const problem = await refusal(this.#options.driven, key, verdict)
      if (problem === undefined) return
      if (pending.kind === 'question') asked = { ...pending, problem }
      this.#asked.set(key, controller)
    }
    if (this.#asked.get(key) === controller) this.#asked.delete(key)
  }

  /** Cancels the request for a key that was decided, or whose call has ended. */
  settle({ key }: { readonly key: string }): void {
    for (const [asked, controller] of this.#asked) if (asked === key || asked.startsWith(`${key}/`)) controller.abort()
  }

  close(): void {
    for (const controller of this.#asked.values()) controller.abort()
  }

  async #verdict(agent: DrivenAgent, pending: Pending, signal: AbortSignal): Promise<Verdict> {
    const { sessionId, client, hasForms } = this.#options
    const rootId = agent.id
    try {
      switch (pending.kind) {
        case 'approval':
          return verdictOf(await this.#askPermission(rootId, pending, signal), pending.suggest?.[0])
        case 'question':
          return await askClient(pending, { client, sessionId, rootId, hasForms, signal })
        case 'call':
          return { decision: 'deny', reason: 'An editor does not carry out calls.' }
      }
    } catch {
      return { decision: 'deny', reason: 'The client could not ask for permission.' }
    }
  }

  #askPermission(rootId: string, call: PendingOf<'approval'>, signal: AbortSignal): Promise<RequestPermissionResponse> {
    const { sessionId, client, mayAddRules } = this.#options
    const isOwn = call.agentId === rootId
    const { name, input, callId, key, agentId } = call
    const known = { toolCallId: isOwn ? callId : key, name, input, ...(isOwn ? {} : { agentId }) }
    const toolCall = { ...callShape(known), status: 'pending', content: [inFull(input)] } as const
    const options = choicesFor(mayAddRules ? call.suggest?.[0] : undefined)
    const request = { sessionId, toolCall, options }
    return client.request('session/request_permission', request, {
      cancellationSignal: signal,
      stopWaitingOnCancel: true,
    })
  }
}

/** Returns a call's full input, unformatted, because clients interpret text as Markdown. */
function inFull(input: unknown): ToolCallContent {
  const text = callInFull(input).join('\n')
  const fence = '`'.repeat(Math.max(3, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length + 1)))
  return textContent(`${fence}\n${text}\n${fence}`)
}

/** Returns why an answer was refused and must be requested again. `undefined` if it was accepted. */
async function refusal(
  driven: () => Promise<DrivenAgent>,
  key: string,
  { decision, reason, grant }: Verdict,
): Promise<string | undefined> {
  try {
    const agent = await driven()
    agent.decide(key, decision, grant === undefined ? reason : { reason, grant })
    await agent.taken?.()
    return undefined
  } catch (thrown) {
    // Else somebody was faster, or the agent has ended.
    return hasCode(thrown, 'ANSWER_INVALID') ? messageOf(thrown) : undefined
  }
}

function verdictOf({ outcome }: RequestPermissionResponse, rule: string | undefined): Verdict {
  if (outcome.outcome !== 'selected') return { decision: 'deny', reason: 'The question was dismissed.' }
  const { optionId } = outcome
  const isForAll = optionId === 'allowAll' || optionId === 'rejectAll'
  const grant = isForAll && rule !== undefined ? ({ grant: { rule, scope: 'session' } } as const) : {}
  return optionId === 'allow' || optionId === 'allowAll'
    ? { decision: 'approve', ...grant }
    : { decision: 'deny', reason: 'Rejected by the user.', ...grant }
}
