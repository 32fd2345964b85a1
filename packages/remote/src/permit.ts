import { z } from 'zod'
import type { AgentPorts } from '../../../src/actors/agentPorts.ts'
import { defineTool, type AnyTool } from '../../../src/actors/tools/defineTool.ts'
import type { InnerCalls } from '../../../src/actors/tools/innerCalls.ts'
import { isWritten, type Ruling } from '../../../src/actors/parts/permissions/decideCall.ts'
import { judgeCall, suggestionsFor, whenAsked } from '../../../src/actors/parts/permissions/judgeCall.ts'
import type { Permission, RemoteRequest } from './remoteAgent.ts'

/** Returns the ruling that prevails among those for the several names of one request. `undefined`: no rule applies. */
const strongest = (rulings: readonly Ruling[]): Ruling | undefined =>
  rulings.find(({ type }) => type === 'deny') ??
  // People have said so.
  rulings.find((ruling) => ruling.instead === true && isWritten(ruling)) ??
  rulings.find(({ type }) => type === 'ask') ??
  rulings.find((ruling) => ruling.instead === true || isWritten(ruling))

/**
 * Decides about a remote agent's request, by its caller's rules for any of the request's names, or else by asking
 * people. A rule that allows it is enough, as the agent has asked already.
 */
export async function permit(
  ports: AgentPorts,
  calls: Pick<InnerCalls, 'approve'>,
  request: RemoteRequest,
): Promise<Permission> {
  const { names, effects, input, asks = 'always' } = request
  const known = { definition: withNames(ports.definition.tools, request), permissions: ports.permissions }
  const rulings = names.flatMap((name) => judgeCall(known, { name, input }) ?? [])
  const said = strongest(rulings)
  if (said?.type === 'allow') return { ok: true }
  if (said?.type !== 'deny' && (asks === 'never' || (asks === 'by rule' && said === undefined))) return { ok: true }
  const asked = said ?? rulings[0]
  const ruling = asked === undefined || asked.type === 'deny' ? asked : whenAsked(known, asked)
  if (ruling?.type === 'deny') return { ok: false, reason: whyNot(ruling) }
  const suggest = asked === undefined ? [] : suggestionsFor(known, { name: names[0], input })
  const { decision, reason } = await calls.approve({
    name: names[0],
    input,
    ...(effects === 'irreversible' ? { irreversible: true } : {}),
    ...(asked === undefined ? {} : { rule: asked.rule }),
    ...(suggest.length === 0 ? {} : { suggest: [...suggest] }),
  })
  return decision === 'approve'
    ? { ok: true }
    : { ok: false, reason: reason === undefined ? 'Denied by the user.' : `Denied by the user: ${reason}` }
}

const whyNot = ({ rule, mode }: Ruling): string =>
  mode === 'plan'
    ? 'Plan mode: only what changes nothing may happen.'
    : mode === 'refuse'
      ? 'It needs an approval, and nobody can be asked here.'
      : `The rule ${JSON.stringify(rule)} denies it.`

/** Returns the tools as the rules see them, with one for each name of the request. */
function withNames(
  tools: ReadonlyMap<string, AnyTool>,
  { names, effects, subject }: RemoteRequest,
): Parameters<typeof judgeCall>[0]['definition'] {
  const asked = names.map((name) => {
    const tool = defineTool({
      name,
      description: name,
      input: z.looseObject({}),
      effects,
      ...(subject === undefined ? {} : { subject: () => subject }),
      run: () => undefined,
    })
    return [name, tool] as const
  })
  return { tools: new Map([...tools, ...asked]), agents: new Map() }
}
