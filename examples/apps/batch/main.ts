// node examples/apps/batch/main.ts — without a key: the models are functions.
import { policyModel, type Block } from '../../../src/index.ts'
import { labelAll } from './batch.ts'

const textOf = (content: readonly Block[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')
let running = 0
let most = 0
const reader = (mood: (text: string) => string) =>
  policyModel(async ({ messages }) => {
    most = Math.max(most, (running += 1))
    await new Promise((resolve) => setImmediate(resolve))
    running -= 1
    return JSON.stringify({ mood: mood(textOf(messages[0]!.content)), why: 'its words' })
  })

const reviews = Array.from({ length: 20 }, (_, index) => (index % 3 === 0 ? 'Broken again!' : 'It keeps time.'))
const labels = await labelAll(
  reviews,
  {
    cheap: reader(() => 'calm'),
    careful: reader((text) => (text.endsWith('!') ? 'angry' : 'glad')),
    judge: policyModel(() => '2'),
  },
  { concurrency: 4 },
)
const count = (mood: string): number => labels.filter((label) => label?.mood === mood).length
console.log(`${labels.length} reviews: ${count('angry')} angry, ${count('glad')} glad`)
console.log(`at most ${most} calls at a time`)
