import { defineConfig } from 'escapement'
import { coder } from './src/agent.ts'

export default defineConfig({
  agents: [({ model }) => coder(model, 'project')],
})
