/**
 * Makes docs/pictures: the charts of an agent with one brake open and of the supervisor. `node
 * scripts/pictures.ts` writes them; a test keeps them equal.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineAgent } from '../src/actors/defineAgent.ts'
import { policyModel } from '../src/actors/models/policyModel.ts'
import { supervisorMachine } from '../src/machines/supervisorMachine.ts'
import { chart } from '../src/runtime/charts/chart.ts'

const agent = defineAgent({ name: 'coder', model: policyModel(() => ''), braking: { revert: true } })

/** The pictures by file name, each with what makes it. */
export const pictures: Readonly<Record<string, () => string | Promise<string>>> = {
  'agent.svg': () => chart(agent, { format: 'svg' }),
  'agent.mmd': () => chart(agent),
  'supervisor.svg': () => chart(supervisorMachine, { format: 'svg' }),
}

if (import.meta.main) {
  const folder = join(import.meta.dirname, '..', 'docs', 'pictures')
  await mkdir(folder, { recursive: true })
  for (const [name, draw] of Object.entries(pictures)) await writeFile(join(folder, name), await draw())
}
