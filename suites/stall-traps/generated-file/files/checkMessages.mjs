import './generate.mjs'

const { greeting } = await import('./src/messages.mjs')
if (!greeting.startsWith('Hello')) {
  console.error(`misspelt in src/messages.mjs: ${JSON.stringify(greeting)}`)
  process.exit(1)
}
console.log('every message is spelt as it should be')
