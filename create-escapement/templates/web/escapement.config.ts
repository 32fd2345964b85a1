import { defineConfig } from 'escapement'
import { support } from './src/agent.ts'
import { chooseModel } from './src/model.ts'

export default defineConfig({
  agents: [support(chooseModel())],
})
