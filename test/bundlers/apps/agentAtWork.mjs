import { agentMachine, createRuntime, defineAgent, policyModel, workspaceTools } from 'escapement'
import { chart } from 'escapement/charts'
import { connect } from 'escapement/client'

const model = policyModel(({ messages }) => {
  const last = messages.at(-1)
  if (last.role === 'toolResult') return last.content[0].text
  return { toolCalls: [{ name: 'search_files', input: { pattern: 'needle' } }] }
})

/** Work of an agent in a folder, and the results of the things that need a file of the package. */
export async function agentAtWork(folder, { serve }) {
  const runtime = await createRuntime()
  const agent = await runtime.spawn(defineAgent({ name: 'seeker', model, tools: workspaceTools(folder) }))
  const { text } = await agent.prompt('Where is the needle?').result
  const svg = await chart(agentMachine, { format: 'svg', detail: 'full', direction: 'right' }).then(
    (drawn) => drawn.slice(0, 4),
    ({ code, message }) => `${code} ${message}`,
  )
  const server = serve ? await visit(await runtime.serve()) : undefined
  await runtime.close()
  return { text, svg, ...server }
}

async function visit({ port, url }) {
  const page = await fetch(`http://127.0.0.1:${port}/`)
  const client = connect(url)
  await client.ready
  client.close()
  return { page: page.status, said: page.status === 200 ? '' : await page.text() }
}
