import { z } from 'zod'
import { isAgentDefinition, type AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { checkedBy } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { Endpoint } from '../../../bridge/src/server/endpoint.ts'
import { mustBeServed } from '../../../bridge/src/server/oneDefinition.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import { agentCard } from './agentCard.ts'

export interface A2aOptions {
  /** The agents, each with a card and an address of its own. They must be among the definitions of `serve`. */
  readonly definitions: readonly AgentDefinition[]
  /** Address at which clients reach the server, such as `https://agents.example.com`. Default: that of the request. */
  readonly url?: string | undefined
}

const optionsSchema = lazily(() =>
  onlyFields({
    definitions: z
      .array(z.custom<AgentDefinition>(isAgentDefinition, 'give what defineAgent returns'))
      .min(1, 'give at least one')
      .readonly(),
    url: z.url({ protocol: /^https?$/ }).optional(),
  }),
)

const path = '/a2a'
const cardPath = '/.well-known/agent-card.json'

/**
 * Serves agents to others by the Agent2Agent protocol at `/a2a/<name of the definition>`, for `runtime.serve({ endpoints: [a2a({ definitions })] })`. A
 * context is a root agent, a task is one of its runs, and the log is all that there is of it. A client that leaves aborts nothing.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function a2a(options: A2aOptions): Endpoint {
  const { definitions, url } = checkedBy(optionsSchema(), options, 'a2a')
  const byName = new Map(definitions.map((definition) => [definition.name, definition]))
  return {
    path,
    below: true,
    headers: ['a2a-version', 'a2a-extensions'],
    check: (served) => {
      for (const name of byName.keys()) mustBeServed('a2a', name, served)
    },
    async answer(request, response, access, answering) {
      const { answerCard, answerRpc, refuse } = await loadPeer(() => import('./answerRpc.ts'), 'a2a', '@a2a-js/sdk')
      const asked = new URL(request.url ?? '', 'http://any').pathname.slice(path.length)
      const isCard = asked.endsWith(cardPath)
      const name = (isCard ? asked.slice(0, -cardPath.length) : asked).replaceAll('/', '')
      const definition = byName.get(name)
      if (definition === undefined) return refuse(response, 404, whatThereIs(name, [...byName.keys()]))
      const base = url ?? `http://${request.headers.host ?? 'localhost'}`
      const address = `${base.replace(/\/$/, '')}${path}/${name}`
      const card = agentCard(definition, address, request.headers.authorization !== undefined)
      const method = isCard ? 'GET' : 'POST'
      if (request.method !== method) {
        response.setHeader('allow', `${method}, OPTIONS`)
        return refuse(response, 405, `Send ${isCard ? 'a GET for the card' : 'requests with POST'}.`)
      }
      if (isCard) return answerCard(response, card)
      await answerRpc({ request, response, access, answering, definition, card })
    },
  }
}

const whatThereIs = (name: string, names: readonly string[]): string =>
  `There is no agent ${JSON.stringify(name)} at ${path}. Those that there are: ${names.map((each) => `${path}/${each}`).join(', ')}.`
