import { createRuntime, fileStore, totalTokens } from 'escapement'
import { askPerson } from './askPerson.ts'
import { chooseModel } from './model.ts'
import { lead } from './team.ts'

const task = process.argv.slice(2).join(' ') || 'Publish an article about escapements.'
const runtime = await createRuntime({ store: fileStore('.escapement') })
const agent = await runtime.spawn(lead(chooseModel(), 'published'))
const server = await runtime.serve()
console.log(`To watch, and to decide there: http://127.0.0.1:${server.port}/#agent=${agent.id}`)
process.once('SIGINT', () => agent.abort())

const questions = new Map<string, AbortController>()
agent.subscribe(
  (event) => {
    if (event.type === 'tool.start') console.log(`${event.agentId}: ${event.name}`)
    if (event.type === 'approval.decided') questions.get(event.key)?.abort()
  },
  { descendants: true },
)

const run = agent.prompt(task)
// What sub-agents ask for reaches the agents above them.
for await (const event of run) {
  if (event.type !== 'approval.requested') continue
  const decided = new AbortController()
  questions.set(event.key, decided)
  const question = `${event.agentId} wants to ${event.name} ${JSON.stringify(event.input)}\nMay it?`
  const isAllowed = await askPerson(question, decided.signal)
  if (isAllowed !== undefined) agent.decide(event.key, isAllowed ? 'approve' : 'deny')
}
const { text, stopReason, usage } = await run.result
console.log(text || stopReason)
console.log(`The whole team used ${totalTokens(usage)} tokens.`)
await runtime.close()
