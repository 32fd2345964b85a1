import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { workspaceContract } from '../../../../evaluation/src/testing/workspaceContract.ts'
import { describe } from '../../../../../test/support/suite.ts'
import { dockerWorkspace } from '../../../src/workspace/dockerWorkspace.ts'
import { fakeDocker } from './fakeDocker.ts'

describe('the contract of workspaces: a container, by a client that runs everything here', (it) => {
  const names = workspaceContract({
    create: () => dockerWorkspace({ image: 'any' }),
    createFull: () => dockerWorkspace({ image: 'any' }),
  })
  for (const [index, { name }] of names.entries())
    it(name, { timeoutMs: 90_000 }, async (context) => {
      const docker = fakeDocker(context)
      const create = () => dockerWorkspace({ image: 'any', root: docker.root, program: docker.program })
      const createFull = () => {
        writeFileSync(join(docker.root, 'old.txt'), 'old')
        writeFileSync(
          join(docker.bin, 'cat'),
          '#!/bin/sh\nhead -c 1000000; echo "cat: write error: No space left on device" >&2; exit 1\n',
          { mode: 0o755 },
        )
        return create()
      }
      await workspaceContract({ create, createFull })[index]!.run()
    })
})
