import { join } from 'node:path'
import { createRuntime, defineAgent, fileStore, policyModel } from '../../../src/index.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { projectFolder } from './cliChild.ts'
import { runCli } from './cliInProcess.ts'
import { atTerminal, plain, startAtTerminal } from './cliTerminal.ts'

describe('escapement sessions', (it) => {
  atTerminal(it, 'shows whose a session is', async (context) => {
    const cwd = projectFolder(context)
    const runtime = await createRuntime({ store: fileStore(join(cwd, '.escapement')) })
    const definition = defineAgent({ name: 'support', model: policyModel(() => 'Good day.') })
    const agent = await runtime.spawn(definition, { id: 'a', metadata: { userId: 'u1', plan: 2 } })
    await agent.prompt('Hello').result
    await runtime.close()
    const shown = await startAtTerminal(context, ['sessions'], { cwd }).ended
    assert.match(plain(shown.stdout), /userId: u1, plan: 2 · Good day\./)
    const { stdout } = await runCli(context, ['sessions', '--dir', cwd])
    assert.equal((JSON.parse(stdout) as { metadata?: object }).metadata, { userId: 'u1', plan: 2 })
  })
})
