import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cachedPackages } from '../../../../test/support/cachedPackages.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { acpAgent, type AcpAgentOptions } from '../../src/client/acpAgent.ts'
import { temporary } from '../client/callerHarness.ts'

/** Qwen Code: 40 MB to fetch, and nothing beside it. Its lock file leaves out what is optional, such as programs for one platform. */
export const foreignAgents = cachedPackages({
  name: 'The coding agent of another vendor',
  door: 'packages/acp/test/foreign/qwen.ts',
  here: import.meta.dirname,
  cache: 'escapement-foreign-agents',
  withoutOptional: true,
})

/** It calls nobody but its model, and changes nothing of itself. */
const settings = {
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  ui: { enableFollowupSuggestions: false },
}

/** Qwen Code in a folder, in a home of its own; without the address of a model it has no login. */
export function qwenIn(
  context: CaseContext,
  cwd: string,
  { model, ...options }: Partial<AcpAgentOptions> & { readonly model?: string } = {},
): ReturnType<typeof acpAgent> {
  const home = temporary(context)
  mkdirSync(join(home, '.qwen'))
  writeFileSync(join(home, '.qwen', 'settings.json'), JSON.stringify(settings))
  const login =
    model === undefined ? {} : { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: model, OPENAI_MODEL: 'test-model' }
  const script = join(foreignAgents.folder, 'node_modules', '@qwen-code', 'qwen-code', 'cli-entry.js')
  return acpAgent({
    name: 'qwen',
    description: 'Changes code.',
    command: process.execPath,
    args: [script, '--acp', '--approval-mode', 'default'],
    env: { HOME: home, ...login },
    cwd,
    startMs: 120_000,
    backoffMs: 1,
    ...options,
  })
}
