import { type AgentDefinition, defineAgent, type Endpoint } from '../../../src/index.ts'
import type { RuntimeOptions } from '../../runtime/src/runtimeOptions.ts'
import { scriptedModel, type ScriptedReply } from '../../../src/testing.ts'
import type { CaseContext } from '../../../test/support/suite.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { Chats } from '../src/openChat.ts'
import { serveChats } from './chatHarness.ts'

interface Given {
  readonly options?: Partial<Parameters<typeof defineAgent>[0]>
  readonly others?: readonly AgentDefinition[]
  readonly tokens?: NonNullable<Parameters<typeof serveChats>[2]>['tokens']
}

/** Chats as the endpoint has them, with the access of a client. */
export async function chatsOf(
  context: CaseContext,
  replies: ScriptedReply[],
  runtime: RuntimeOptions = {},
  { options = {}, others = [], tokens }: Given = {},
) {
  const model = scriptedModel(replies)
  let access: AgentAccess | undefined
  const look: Endpoint = {
    path: '/look',
    answer: (_, response, given) => {
      access = given
      response.end()
    },
  }
  const definition = defineAgent({ name: 'a', model, ...options })
  const serving = await serveChats(context, [definition, ...others], {
    endpoints: [look],
    runtime,
    ...(tokens === undefined ? {} : { tokens }),
  })
  const accessFor = async (token?: string): Promise<AgentAccess> => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    await fetch(`http://127.0.0.1:${serving.server.port}/look`, { headers })
    return access!
  }
  const first = tokens === undefined ? await accessFor() : await accessFor(Object.keys(tokens)[0])
  return {
    chats: new Chats(undefined),
    access: first,
    accessFor,
    model,
    definition,
    runtime: serving.runtime,
    store: serving.store,
  }
}
