import { createJustBashSandbox } from '@ai-sdk/sandbox-just-bash'
import type { Experimental_SandboxSession } from 'ai'
import { workspaceContract } from '../../../../evaluation/src/testing/workspaceContract.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'
import { type AiSdkSandbox, fromAiSdkSandbox } from '../../../src/workspace/aiSdkSandbox.ts'

const opened = () => createJustBashSandbox({ cwd: '/home/user/work' }).createSession()

describe('the contract of workspaces: a sandbox of the AI SDK', (it) => {
  const contract = workspaceContract({
    create: async () => fromAiSdkSandbox(await opened()),
    createFull: async () => {
      const own = await opened()
      await own.writeTextFile({ path: 'old.txt', content: 'old' })
      const writeBinaryFile = () => Promise.reject(new Error('ENOSPC: no space left on device, write'))
      return fromAiSdkSandbox(Object.assign(Object.create(own) as typeof own, { writeBinaryFile }))
    },
    lacks: ['groups', 'streams'],
  })
  for (const { name, run } of contract) it(name, { timeoutMs: 20_000 }, run)

  it('takes any session of the SDK, and asks for a root that it does not say', async () => {
    const own = await opened()
    const restricted: AiSdkSandbox = own.restricted()
    assert.throws(() => fromAiSdkSandbox(restricted), /give root, an absolute path/)
    // What the newest SDK calls a session is one here.
    const open = (session: Experimental_SandboxSession) => fromAiSdkSandbox(session, { root: '/home/user/work' })
    assert.is(open(restricted as Experimental_SandboxSession).root, '/home/user/work')
    assert.throws(() => fromAiSdkSandbox({} as never), /give a sandbox session/)
  })
})
