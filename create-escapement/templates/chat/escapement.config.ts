import { defineConfig } from 'escapement'
import { assistant } from './src/agent.ts'
import { chooseModel } from './src/model.ts'

export default defineConfig({
  agents: [assistant(chooseModel(), 'notes.txt')],
})
