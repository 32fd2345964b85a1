import { defineConfig } from 'escapement'
import { chooseModel } from './src/model.ts'
import { lead } from './src/team.ts'

export default defineConfig({
  agents: [lead(chooseModel(), 'published')],
})
