import { defineAgent } from '../../src/index.ts'
import { defineSuite } from '../../src/testing.ts'
import { runScript } from './runScript.ts'
import { trapModel } from './trapModel.ts'

const fileTools = ['read_file', 'write_file', 'list_files', 'search_files']

// oxlint-disable-next-line import/no-default-export -- Suites are read so.
export default defineSuite({
  agent: ({ dir, model, tools }) =>
    defineAgent({
      name: 'maintainer',
      model,
      instructions:
        'You maintain a small project, with tools. Paths are relative to its folder. Change no more than the task needs, and say at the end what you did.',
      tools: [...tools.filter(({ name }) => fileTools.includes(name)), runScript(dir)],
    }),
  models: { embedded: ({ task, seed }) => trapModel(task, seed) },
})
