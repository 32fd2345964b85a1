import type { RequestListener } from 'node:http'
import { z } from 'zod'
import {
  createRuntime,
  defineAgent,
  memoryStore,
  policyModel,
  workspaceTools,
  type AgentListener,
} from '../../src/index.ts'

/** Names that a `ts` block of the pages may use, all of them real. Those of these doors are among them. */
export * from '../../src/index.ts'
export * from '../../src/groups.ts'
export * from '../../src/sessions.ts'
export * from '../../src/stores.ts'
export * from '../../src/charts.ts'
export { z }

const reply = 'The test passes now.'
export const model = policyModel(() => reply)
export const tools = workspaceTools(import.meta.dirname)
export const [readFile, editFile] = ['read_file', 'edit_file'].map((name) =>
  tools.find((tool) => tool.name === name)!,
) as [(typeof tools)[number], (typeof tools)[number]]
const named = (name: string) => defineAgent({ name, description: `Works as ${name}.`, model })

export const coder = defineAgent({ name: 'coder', model, tools, captureTurnRequests: true })
export const researcher = named('researcher')
export const support = named('support')
export const cheap = named('cheap')
export const careful = named('careful')
export const fast = named('fast')
export const sure = named('sure')
export const draft = named('draft')
export const editor = named('editor')

export const store = memoryStore()
export const runtime = await createRuntime({ store })
export const agent = await runtime.spawn(coder, { id: 'coder-x7' })
await agent.prompt('Fix the failing test').result

export const listener: AgentListener = () => {}
export const show = (text: string): void => void process.stdout.write(text)
export const persona = 'You are patient.'
export const memory = { id: 'm1', text: 'The user likes clocks.' }
export const tokens = { 'a-token-of-16-characters': 'drive' } as const
export const app: RequestListener = (_request, response) => void response.end('the application')
/** Key and text of a certificate. */
export const [key, cert] = ['', '']
