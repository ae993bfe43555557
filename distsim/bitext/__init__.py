"""Two texts, sentence by sentence -> an artifact with word links, trees and tags."""
