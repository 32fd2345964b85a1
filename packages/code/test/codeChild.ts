/** One life of an agent with a script: `<folder> <records>`. The process kills itself after so many records; 0: never. */
import { appendFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime, defineAgent, fileStore, policyModel } from '../../../src/index.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { ends } from '../../../test/support/lives.ts'
import { noting, scripted } from './scriptedAgent.ts'

const [folder = '', most = '0'] = process.argv.slice(2)
const note = (key: string): void => appendFileSync(join(folder, 'effects'), `${key}\n`)
const code = `const files = ['a', 'b', 'c', 'd']
const read = await Promise.all(files.map((to) => tools.read({ to })))
const said = []
for (const to of ['a', 'c']) said.push(await tools.pay({ to }).catch((e) => e.code))
const echoed = await Promise.all(['e', 'f'].map((task) => tools.echo({ task })))
await sleep(150)
return { read, said, echoed, random: Math.random() }`
const echo = defineAgent({
  name: 'echo',
  model: policyModel(({ messages }) => {
    const task = textOf(messages.at(-1)!.content)
    note(`asked ${task}`)
    return `echo ${task}`
  }),
})
const coder = scripted(
  code,
  [
    noting('read', []),
    noting('pay', [], {
      effects: 'irreversible',
      run: ({ to }, { key }) => {
        note(key)
        return `paid ${to}`
      },
    }),
  ],
  { agents: [echo] },
)

const store = fileStore(join(folder, 'logs'))
const isFirst = !readdirSync(folder).includes('logs')
const runtime = await createRuntime({ store })
const agent = isFirst ? await runtime.spawn(coder, { id: 'a1' }) : await runtime.resume('a1', coder)
let seen = 0
agent.subscribe((event) => {
  if (event.seq === undefined || event.type === 'state.changed') return
  seen += 1
  if (seen === Number(most)) process.kill(process.pid, 'SIGKILL')
})
const over = ends(agent)
if (agent.conversation.trunk().length === 0) agent.prompt('go')
else if (agent.state === 'paused') agent.resume()
if (agent.state !== 'idle' || agent.conversation.trunk().length === 0) await over
console.log(textOf(agent.conversation.trunk().at(-1)!.message.content))
await runtime.close()
