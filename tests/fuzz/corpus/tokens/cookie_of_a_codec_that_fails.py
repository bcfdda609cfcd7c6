# coding: idna
# A cookie whose codec fails in its own way is a file that cannot be read.
import tensorflow as tf
x = 'ÿþ'
