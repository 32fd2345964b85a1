import assert from 'node:assert/strict'
import { test } from 'node:test'

test('07 isPalindrome', async () => {
  const { isPalindrome } = await import('../07-palindrome.mjs')
  assert.equal(isPalindrome('A man, a plan, a canal: Panama'), true)
  assert.equal(isPalindrome('clock'), false)
  assert.equal(isPalindrome('Aa'), true)
})
